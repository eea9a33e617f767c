//! Dialling, versions, answers in order, and every way in which a call can end.

use std::sync::{Arc, Mutex};

use highwater_wire::StrBytes;
use highwater_wire::messages::{DescribeClusterRequest, DescribeClusterResponse, FetchRequest};

use super::*;
use crate::effect::Input;
use crate::testing::Bench;

const KEY: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "test" };

/// What the calls of one test gave, in order: the cluster id, or the error.
#[derive(Clone, Default)]
struct Given(Arc<Mutex<Vec<String>>>);

impl Given {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Asks for the cluster; what comes of it is added to `given`.
fn call(bench: &mut Bench, given: &Given, timeout_ms: u64) {
    let given = given.clone();
    let request = DescribeClusterRequest::default();
    bench.node.kernel.call(KEY, request, timeout_ms, move |_, answer| {
        let text = answer.map_or_else(|error| error.to_string(), |r| r.cluster_id.to_string());
        given.0.lock().unwrap().push(text);
    });
    bench.step(Input::Tick);
}

fn answer(bench: &mut Bench, conn: u64, request: &highwater_wire::Request, cluster: &str) {
    let body = DescribeClusterResponse::default()
        .with_cluster_id(StrBytes::from_string(cluster.to_owned()));
    bench.answer::<DescribeClusterRequest>(conn, request, body);
}

#[test]
fn a_call_dials_asks_for_versions_and_speaks_the_highest_common_one() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    let request = bench.asked(conn);
    assert_eq!(request.header.version, versions::supported(ApiKey::DescribeCluster).max);
    assert_eq!(request.header.client_id, Some(StrBytes::from_static_str("broker-1-test")));
    answer(&mut bench, conn, &request, "one");
    assert_eq!(given.take(), ["one"]);
    assert_eq!(bench.node.next_wake().map(|at| at.0), None, "no timer outlives its call");
}

#[test]
fn several_calls_share_the_connection_and_get_their_answers_in_order() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    let frames = bench.sent(conn);
    let requests: Vec<_> =
        frames.into_iter().map(|frame| codec::decode_request(frame).unwrap()).collect();
    assert_eq!(requests.len(), 2);
    answer(&mut bench, conn, &requests[0], "one");
    answer(&mut bench, conn, &requests[1], "two");
    assert_eq!(given.take(), ["one", "two"]);
}

#[test]
fn an_answer_out_of_order_ends_the_connection() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    let mut request = bench.asked(conn);
    request.header.correlation_id += 1;
    answer(&mut bench, conn, &request, "one");
    assert!(given.take()[0].contains("could not be read"));
    assert!(bench.closed(conn));
}

#[test]
fn an_answer_that_lies_about_its_lengths_ends_the_connection() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    let request = bench.asked(conn);
    let mut frame = request.header.correlation_id.to_be_bytes().to_vec();
    frame.extend([0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    bench.frame(conn, frame.into());
    assert!(given.take()[0].contains("could not be read"));
    assert!(bench.closed(conn));
}

#[test]
fn no_connection_means_unreachable_and_a_pause_before_the_next_dial() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = ConnId(bench.dialed().unwrap());
    bench.step(Input::Dialed { conn, open: false });
    assert_eq!(given.take(), [CallError::Unreachable.to_string()]);
    call(&mut bench, &given, 1_000);
    assert_eq!(bench.dialed(), None);
    bench.pass_ms(RECONNECT_BACKOFF_MS);
    assert!(bench.dialed().is_some());
    assert!(given.take().is_empty());
}

#[test]
fn a_lost_connection_ends_its_calls() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    bench.asked(conn);
    bench.step(Input::Closed { conn: ConnId(conn) });
    assert_eq!(given.take(), [CallError::Disconnected.to_string()]);
}

#[test]
fn no_answer_in_time_closes_the_connection_and_ends_the_calls_behind_it() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 100);
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    bench.take();
    bench.pass_ms(100);
    let ended = [CallError::TimedOut.to_string(), CallError::Disconnected.to_string()];
    assert_eq!(given.take(), ended);
    assert!(bench.closed(conn));
}

#[test]
fn a_peer_that_never_answers_the_dial_is_given_up_in_time() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 100);
    let conn = bench.dialed().unwrap();
    bench.pass_ms(100);
    assert_eq!(given.take(), [CallError::TimedOut.to_string()]);
    assert!(bench.closed(conn));
    bench.step(Input::Dialed { conn: ConnId(conn), open: true });
    assert!(bench.closed(conn), "nobody wants the connection any more");
    bench.step(Input::Dialed { conn: ConnId(conn), open: false });
    assert!(bench.take().is_empty(), "there is nothing to close");
}

#[test]
fn a_peer_without_the_api_is_told_apart_from_one_that_is_gone() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.dialed().unwrap();
    bench.step(Input::Dialed { conn: ConnId(conn), open: true });
    let request = bench.asked(conn);
    bench.answer::<ApiVersionsRequest>(conn, &request, Default::default());
    assert_eq!(given.take(), [CallError::Unsupported.to_string()]);
}

#[test]
fn an_unknown_address_is_unreachable_at_once() {
    let mut bench = Bench::broker();
    let given = Given::default();
    let key = ChannelKey { peer: Peer::Broker(BrokerId(77)), lane: "test" };
    let seen = given.clone();
    bench.node.kernel.call(key, FetchRequest::default(), 1_000, move |_, answer| {
        seen.0.lock().unwrap().push(answer.unwrap_err().to_string());
    });
    bench.step(Input::Tick);
    assert_eq!(given.take(), [CallError::Unreachable.to_string()]);
}

#[test]
fn a_reset_looks_the_address_up_again() {
    let (mut bench, given) = (Bench::broker(), Given::default());
    call(&mut bench, &given, 1_000);
    let conn = bench.open_dialed();
    bench.take();
    bench.node.kernel.reset_peer(Peer::Controller);
    bench.step(Input::Tick);
    assert!(bench.closed(conn));
    assert_eq!(given.take(), [CallError::Disconnected.to_string()]);
    call(&mut bench, &given, 1_000);
    bench.pass_ms(RECONNECT_BACKOFF_MS);
    assert!(bench.dialed().is_some_and(|again| again != conn));
}
