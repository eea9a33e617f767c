//! A broker's life against a hand-made controller (rules 31 to 33).

use highwater_log::Command;
use highwater_wire::Request;
use highwater_wire::RequestKind;

use super::*;
use crate::effect::{Effects, Input, OpId};
use crate::testing::Bench;

/// A broker that found its log directory as its last incarnation left it.
fn started(previous_epoch: Option<i64>) -> (Bench, u64) {
    let mut bench = Bench::broker();
    let previous_epoch = previous_epoch.map(BrokerEpoch);
    let clean = previous_epoch.is_some();
    let startup = Startup { logs: Vec::new(), clean, previous_epoch };
    start(&mut bench.node, &startup);
    bench.step(Input::Tick);
    let conn = bench.open_dialed();
    (bench, conn)
}

fn asked_to_register(bench: &mut Bench, conn: u64) -> (Request, BrokerRegistrationRequest) {
    let request = bench.asked(conn);
    let RequestKind::BrokerRegistration(body) = request.body.clone() else { panic!("{request:?}") };
    (request, body)
}

fn asked_to_beat(bench: &mut Bench, conn: u64) -> (Request, BrokerHeartbeatRequest) {
    let request = bench.asked(conn);
    let RequestKind::BrokerHeartbeat(body) = request.body.clone() else { panic!("{request:?}") };
    (request, body)
}

fn register(bench: &mut Bench, conn: u64, error: ErrorCode, epoch: i64) {
    let (request, _) = asked_to_register(bench, conn);
    let body = BrokerRegistrationResponse::default()
        .with_error_code(error.code())
        .with_broker_epoch(epoch);
    bench.answer::<BrokerRegistrationRequest>(conn, &request, body);
}

fn beat(bench: &mut Bench, conn: u64, fenced: bool, shut_down: bool) -> BrokerHeartbeatRequest {
    let (request, body) = asked_to_beat(bench, conn);
    let answer = BrokerHeartbeatResponse::default()
        .with_is_caught_up(true)
        .with_is_fenced(fenced)
        .with_should_shut_down(shut_down);
    bench.answer::<BrokerHeartbeatRequest>(conn, &request, answer);
    body
}

fn is_ready(effects: &Effects) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Ready))
}

#[test]
fn rule_31_the_epoch_of_a_clean_stop_is_proved_and_only_that() {
    for (previous, sent) in [(Some(12), 12), (None, -1)] {
        let (mut bench, conn) = started(previous);
        let (_, body) = asked_to_register(&mut bench, conn);
        assert_eq!(body.previous_broker_epoch, sent);
        assert_eq!(body.cluster_id.as_str(), "cluster");
        assert_eq!(body.listeners[0].port, 9092);
    }
}

#[test]
fn a_broker_serves_once_it_is_unfenced_and_goes_on_beating() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    let first = beat(&mut bench, conn, true, false);
    assert_eq!((first.broker_epoch, first.want_fence), (40, false));
    assert!(!is_ready(&bench.take()));
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    beat(&mut bench, conn, false, false);
    assert!(is_ready(&bench.take()));
    assert_eq!(bench.node.broker().lifecycle.phase(), Phase::Running);
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    beat(&mut bench, conn, false, false);
    assert!(!is_ready(&bench.take()), "ready is said once");
}

#[test]
fn having_caught_up_is_told_at_once() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    beat(&mut bench, conn, true, false);
    caught_up(&mut bench.node);
    bench.step(Input::Tick);
    beat(&mut bench, conn, false, false);
    assert!(is_ready(&bench.take()));
}

#[test]
fn rule_32_a_refused_broker_asks_again_until_its_time_is_over() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::DuplicateBrokerRegistration, -1);
    bench.take();
    bench.pass_ms(FIRST_RETRY_MS);
    register(&mut bench, conn, ErrorCode::DuplicateBrokerRegistration, -1);
    bench.now = bench.node.broker().lifecycle.deadline;
    bench.take();
    bench.step(Input::Tick);
    register(&mut bench, conn, ErrorCode::DuplicateBrokerRegistration, -1);
    let exits = |effect: &Effect| matches!(effect, Effect::Exit { status: EXIT_NOT_REGISTERED });
    assert!(bench.take().iter().any(exits));
}

#[test]
fn a_controller_that_is_none_any_more_is_looked_up_again() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::NotController, -1);
    assert!(bench.closed(conn));
    bench.pass_ms(FIRST_RETRY_MS);
    assert!(bench.dialed().is_some());
}

/// The command that closes the logs and notes the epoch of the clean stop, if it was given.
fn closes_logs(bench: &mut Bench) -> Option<OpId> {
    bench.take().into_iter().find_map(|effect| match effect {
        Effect::Disk { op, command: Command::CleanShutdown { broker_epoch, .. } } => {
            assert_eq!(broker_epoch, Some(40));
            Some(op)
        }
        _ => None,
    })
}

#[test]
fn rule_33_a_stopping_broker_exits_when_the_controller_lets_it_and_proves_it() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    beat(&mut bench, conn, false, false);
    bench.take();
    bench.step(Input::Shutdown);
    assert!(beat(&mut bench, conn, false, false).want_shut_down);
    assert!(bench.take().iter().all(|effect| !matches!(effect, Effect::Disk { .. })));
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    beat(&mut bench, conn, false, true);
    let op = closes_logs(&mut bench).expect("the logs are closed");
    bench.step(Input::Disk { op, done: Ok(highwater_log::Done::Stopped) });
    assert!(matches!(bench.take()[..], [Effect::Exit { status: 0 }]));
}

#[test]
fn a_stopping_broker_does_not_wait_for_ever_for_a_silent_controller() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    beat(&mut bench, conn, false, false);
    bench.step(Input::Shutdown);
    bench.pass_ms(CONTROLLED_SHUTDOWN_LIMIT_MS - 1);
    assert_eq!(closes_logs(&mut bench), None);
    bench.pass_ms(1);
    assert!(closes_logs(&mut bench).is_some());
}

fn refuse_beat(bench: &mut Bench, conn: u64, error: ErrorCode) -> BrokerHeartbeatRequest {
    let (request, body) = asked_to_beat(bench, conn);
    let answer = BrokerHeartbeatResponse::default().with_error_code(error.code());
    bench.answer::<BrokerHeartbeatRequest>(conn, &request, answer);
    body
}

/// Why heartbeats failed, as it was logged; drops all other effects.
fn refusals(bench: &mut Bench) -> Vec<String> {
    let told = bench.take().into_iter().filter_map(|effect| match effect {
        Effect::Event(Event::HeartbeatRefused { why }) => Some(why),
        _ => None,
    });
    told.collect()
}

/// A broker that ran, and was then taken out of the cluster.
fn unregistered() -> (Bench, u64) {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    beat(&mut bench, conn, false, false);
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    refuse_beat(&mut bench, conn, ErrorCode::StaleBrokerEpoch);
    (bench, conn)
}

#[test]
fn rule_31_a_broker_without_registration_says_so_once_and_keeps_its_epoch() {
    let (mut bench, conn) = unregistered();
    assert_eq!(refusals(&mut bench), ["STALE_BROKER_EPOCH"]);
    for _ in 0..3 {
        bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
        let body = refuse_beat(&mut bench, conn, ErrorCode::StaleBrokerEpoch);
        assert_eq!(body.broker_epoch, 40, "it never registers anew");
        assert!(refusals(&mut bench).is_empty(), "said once");
    }
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    beat(&mut bench, conn, false, false);
    bench.pass_ms(bench.node.config.broker_heartbeat_interval_ms);
    refuse_beat(&mut bench, conn, ErrorCode::StaleBrokerEpoch);
    assert_eq!(refusals(&mut bench), ["STALE_BROKER_EPOCH"], "said anew after an answer");
}

#[test]
fn rule_33_a_broker_without_registration_has_nothing_to_hand_over() {
    for error in [ErrorCode::StaleBrokerEpoch, ErrorCode::BrokerIdNotRegistered] {
        let (mut bench, conn) = unregistered();
        bench.take();
        bench.step(Input::Shutdown);
        refuse_beat(&mut bench, conn, error);
        assert!(closes_logs(&mut bench).is_some(), "{error:?}");
    }
    let (mut bench, conn) = unregistered();
    bench.take();
    bench.step(Input::Shutdown);
    refuse_beat(&mut bench, conn, ErrorCode::UnknownServerError);
    assert_eq!(closes_logs(&mut bench), None, "what is no word on the registration");
}

#[test]
fn what_comes_due_during_a_heartbeat_follows_it_at_once() {
    let (mut bench, conn) = started(None);
    register(&mut bench, conn, ErrorCode::None, 40);
    let (request, _) = asked_to_beat(&mut bench, conn);
    caught_up(&mut bench.node);
    bench.step(Input::Tick);
    assert!(bench.sent(conn).is_empty(), "one request at a time");
    let answer = BrokerHeartbeatResponse::default().with_is_fenced(true);
    bench.answer::<BrokerHeartbeatRequest>(conn, &request, answer);
    bench.step(Input::Tick);
    asked_to_beat(&mut bench, conn);
}
