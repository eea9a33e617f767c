//! A request goes to the controller byte for byte, and its answer to the client.

use bytes::Bytes;
use highwater_wire::messages::create_topics_request::CreatableTopic;
use highwater_wire::messages::{CreateTopicsRequest, CreateTopicsResponse};
use highwater_wire::{ApiKey, Request, Response, StrBytes, codec};

use super::*;
use crate::testing::Bench;

const CLIENT: u64 = 2;
const VERSION: i16 = 7;

fn asked() -> Bench {
    let mut bench = Bench::broker();
    bench.node.kernel.connections.serve_clients();
    bench.accept(CLIENT);
    let topic = CreatableTopic::default().with_name(StrBytes::from_static_str("t").into());
    let request = CreateTopicsRequest::default().with_topics(vec![topic]);
    bench.request(CLIENT, ApiKey::CreateTopics, VERSION, request.into());
    bench
}

fn envelope(bench: &mut Bench, conn: u64) -> (Request, EnvelopeRequest) {
    let request = bench.asked(conn);
    let RequestKind::Envelope(envelope) = request.body.clone() else { panic!("{request:?}") };
    (request, envelope)
}

#[test]
fn the_controllers_answer_reaches_the_client_unchanged() {
    let mut bench = asked();
    let conn = bench.open_dialed();
    let (request, envelope) = envelope(&mut bench, conn);
    let inner = codec::decode_request(envelope.request_data).unwrap();
    assert_eq!((inner.header.api, inner.header.version), (ApiKey::CreateTopics, VERSION));
    let body = CreateTopicsResponse::default().with_throttle_time_ms(3).into();
    let response = Response { correlation_id: inner.header.correlation_id, body };
    let parts = codec::encode_response(ApiKey::CreateTopics, VERSION, &response).unwrap();
    let data: Bytes = parts.concat().into();
    let answer = EnvelopeResponse::default().with_response_data(Some(data.clone()));
    bench.answer::<EnvelopeRequest>(conn, &request, answer);
    assert_eq!(bench.sent(CLIENT), [data]);
}

#[test]
fn a_node_that_is_no_controller_is_asked_no_more() {
    let mut bench = asked();
    let conn = bench.open_dialed();
    let (request, _) = envelope(&mut bench, conn);
    let refused = EnvelopeResponse::default().with_error_code(ErrorCode::NotController.code());
    bench.answer::<EnvelopeRequest>(conn, &request, refused);
    assert!(bench.closed(conn));
    bench.pass_ms(RETRY_MS);
    let again = bench.open_dialed();
    envelope(&mut bench, again);
}

#[test]
fn without_a_controller_the_request_is_refused_when_its_time_is_over() {
    let mut bench = asked();
    let end = bench.now.plus_ms(bench.node.config.request_timeout_ms + 2 * RETRY_MS);
    let mut refused = Vec::new();
    while bench.now < end && refused.is_empty() {
        let dials: Vec<_> = bench
            .take()
            .into_iter()
            .filter_map(|effect| match effect {
                crate::Effect::Dial { conn, .. } => Some(conn),
                crate::Effect::Send { conn, parts } => {
                    assert_eq!(conn.0, CLIENT);
                    refused = parts;
                    None
                }
                _ => None,
            })
            .collect();
        for conn in dials {
            bench.step(crate::Input::Dialed { conn, open: false });
        }
        bench.pass_ms(10);
    }
    let frame = Bytes::from(refused.concat());
    let (_, answer) = codec::decode_answer::<CreateTopicsRequest>(VERSION, frame).unwrap();
    assert_eq!(answer.topics[0].error_code, ErrorCode::RequestTimedOut.code());
}

#[test]
fn an_envelope_that_cannot_be_read_closes_the_clients_connection() {
    let mut bench = asked();
    let conn = bench.open_dialed();
    let (request, _) = envelope(&mut bench, conn);
    let refused = EnvelopeResponse::default().with_error_code(ErrorCode::InvalidRequest.code());
    bench.answer::<EnvelopeRequest>(conn, &request, refused);
    assert!(bench.closed(CLIENT));
}
