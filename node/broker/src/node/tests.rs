//! What a listener does with frames: answered, answered in version 0, or closed, as Kafka does.

use bytes::{BufMut, Bytes, BytesMut};
use highwater_wire::messages::{ApiVersionsRequest, MetadataRequest};
use highwater_wire::{ApiKey, ErrorCode, ResponseKind, StrBytes, codec};

use crate::effect::{ConnId, Effect};
use crate::testing::{Bench, token};

const CONN: u64 = 2;

fn serving() -> Bench {
    let mut bench = Bench::broker();
    bench.node.kernel.connections.serve_clients();
    bench.accept(CONN);
    bench
}

fn raw(api: i16, version: i16, rest: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_i16(api);
    frame.put_i16(version);
    frame.put_i32(41);
    frame.put_i16(-1);
    frame.put_slice(rest);
    frame.freeze()
}

fn ask_versions(bench: &mut Bench, name: &'static str) -> ErrorCode {
    let body = ApiVersionsRequest::default()
        .with_client_software_name(StrBytes::from_static_str(name))
        .with_client_software_version(StrBytes::from_static_str("1.0"));
    bench.request(CONN, ApiKey::ApiVersions, 3, body.into());
    let sent = bench.sent(CONN);
    let response = codec::decode_response(ApiKey::ApiVersions, 3, sent[0].clone()).unwrap();
    let ResponseKind::ApiVersions(answer) = response.body else { panic!("another API") };
    ErrorCode::from_code(answer.error_code).unwrap()
}

#[test]
fn an_unknown_api_key_closes_the_connection() {
    let mut bench = serving();
    bench.frame(CONN, raw(9_999, 0, &[]));
    assert!(bench.closed(CONN));
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let mut bench = serving();
    bench.frame(CONN, raw(ApiKey::ApiVersions as i16, 999, b"\0"));
    let sent = bench.sent(CONN);
    assert_eq!(sent[0][..6], [0, 0, 0, 41, 0, 35]);
    assert_eq!(ask_versions(&mut bench, "alive"), ErrorCode::None);
}

#[test]
fn an_unsupported_version_of_another_api_closes_the_connection() {
    for (api, version) in [(ApiKey::Metadata, 999), (ApiKey::Produce, 2)] {
        let mut bench = serving();
        bench.frame(CONN, raw(api as i16, version, &[0; 16]));
        assert!(bench.closed(CONN), "{api:?}");
    }
}

#[test]
fn half_a_message_and_hostile_lengths_close_the_connection() {
    let metadata = ApiKey::Metadata as i16;
    let hostile = [raw(metadata, 1, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]), raw(metadata, 1, &[0])];
    for frame in hostile.into_iter().chain([Bytes::from_static(b"\0\x03\0"), Bytes::new()]) {
        let mut bench = serving();
        bench.frame(CONN, frame);
        assert!(bench.closed(CONN));
    }
}

#[test]
fn an_api_of_the_other_listener_closes_the_connection() {
    let mut bench = serving();
    bench.frame(CONN, raw(ApiKey::Envelope as i16, 0, b"\0\x01\0\x01\0"));
    assert!(bench.closed(CONN));
}

#[test]
fn the_clients_software_name_is_checked() {
    let mut bench = serving();
    for (name, wanted) in [
        ("conformance-suite.x", ErrorCode::None),
        ("x", ErrorCode::None),
        ("", ErrorCode::InvalidRequest),
        ("-starts-wrong", ErrorCode::InvalidRequest),
        ("has space", ErrorCode::InvalidRequest),
        ("ends.", ErrorCode::InvalidRequest),
    ] {
        assert_eq!(ask_versions(&mut bench, name), wanted, "{name:?}");
    }
}

#[test]
fn no_topics_are_told_from_all_topics() {
    let mut bench = serving();
    bench.request(CONN, ApiKey::Metadata, 9, MetadataRequest::default().into());
    let sent = bench.sent(CONN);
    let response = codec::decode_response(ApiKey::Metadata, 9, sent[0].clone()).unwrap();
    assert_eq!(response.correlation_id, CONN as i32);
    let ResponseKind::Metadata(answer) = response.body else { panic!("another API") };
    assert!(answer.topics.is_empty());
    assert_eq!(answer.controller_id.0, -1, "no broker is alive");
    assert_eq!(answer.cluster_id.as_deref(), Some("cluster"));
}

#[test]
fn what_comes_before_the_broker_serves_is_answered_once_it_does() {
    let mut bench = Bench::broker();
    bench.accept(CONN);
    bench.request(CONN, ApiKey::Metadata, 9, MetadataRequest::default().into());
    assert!(bench.sent(CONN).is_empty());
    bench.node.kernel.connections.serve_clients();
    bench.pass_ms(1);
    bench.step(crate::effect::Input::Tick);
    assert_eq!(bench.sent(CONN).len(), 1);
}

#[test]
fn an_answer_that_no_frame_can_hold_closes_its_connection() {
    let mut bench = serving();
    let token = token(CONN, ApiKey::Metadata, 9);
    let piece = Bytes::from(vec![0; 1 << 20]);
    bench.node.kernel.reply_raw(token, vec![piece; 2048]);
    let out = &bench.node.kernel.io.out;
    assert!(matches!(out[..], [Effect::Event(_), Effect::Close { conn: ConnId(CONN) }]), "{out:?}");
}
