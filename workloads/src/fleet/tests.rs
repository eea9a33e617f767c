//! The fleet against a broker in memory: recording order, successors, determinism.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Event, EventValue,
    event::{EventKind, Function, Process},
};

use super::{Effect, Fleet, FleetConfig, Input};
use crate::{
    Acks, Settings, Time,
    client::{self, Address},
    settings::AcksMode,
    testing::{FakeBroker, catalog},
    workload,
};

fn fleet(seed: u64, change: impl FnOnce(&mut Settings)) -> Fleet {
    let mut settings = Settings {
        run_id: "r7".into(),
        acks: AcksMode::Only(Acks::All),
        producers: 2,
        consumers: 1,
        ..Settings::default()
    };
    change(&mut settings);
    let bootstrap = vec![Address { host: "fake".into(), port: 9092 }];
    let config = FleetConfig { settings, catalog: catalog(), bootstrap, seed, unix_zero_ms: 0 };
    Fleet::new(workload::find("log").expect("the workload exists"), config)
}

/// Runs for `millis` of simulated time; at `cut` milliseconds the answers under way are lost.
fn run(fleet: &mut Fleet, millis: u64, cut: Option<u64>) -> Vec<Event> {
    run_and_stop(fleet, millis, cut, u64::MAX)
}

/// As [`run`]; the fleet is told to stop at `stop` milliseconds.
fn run_and_stop(fleet: &mut Fleet, millis: u64, cut: Option<u64>, stop: u64) -> Vec<Event> {
    let mut broker = FakeBroker::new(&catalog());
    let mut events = Vec::new();
    let mut inputs = vec![Input::Start];
    let mut now = Time::ZERO;
    let mut cut = cut.map(Time::from_millis);
    let mut sent = BTreeMap::new();
    while now < Time::from_millis(millis) {
        let mut effects = Vec::new();
        for input in inputs.drain(..) {
            fleet.step(now, input, &mut effects);
        }
        let lose = cut.is_some_and(|at| at <= now);
        for effect in effects {
            match effect {
                Effect::Record(event) => events.push(*event),
                Effect::Connect(id, conn, _) => {
                    inputs.push(Input::Net(id, client::Input::Connected(conn)));
                }
                Effect::Send(id, conn, _) if lose => {
                    inputs.push(Input::Net(id, client::Input::Closed(conn)));
                    cut = None;
                }
                Effect::Send(id, conn, frame) => {
                    let out = sent.entry((id, conn)).or_default();
                    *out += 1;
                    inputs.push(Input::Net(id, client::Input::Written(conn, *out)));
                    let answer = broker.answer(frame);
                    let input = |frame| Input::Net(id, client::Input::Frame(conn, frame));
                    inputs.extend(answer.map(input));
                }
                Effect::Close(..) => {}
            }
        }
        if inputs.is_empty() {
            let Some(wake) = fleet.next_wake() else { break };
            now = wake;
            let stops = now >= Time::ZERO + std::time::Duration::from_millis(stop);
            inputs.push(if stops { Input::Stop } else { Input::Tick });
        }
    }
    events
}

fn sends(events: &[Event]) -> Vec<&EventValue> {
    let sends = events.iter().filter(|e| e.kind == EventKind::Invoke && e.f == Function::Send);
    sends.map(|event| &event.value).collect()
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let history = |seed| run(&mut fleet(seed, |_| ()), 1_000, None);
    assert_eq!(history(1), history(1));
    assert_ne!(sends(&history(1)), sends(&history(2)));
}

#[test]
fn what_is_sent_does_not_depend_on_what_happens() {
    let seat_values = |cut| {
        let events = run(&mut fleet(1, |s| s.idempotence = false), 1_000, cut);
        let values: BTreeSet<String> = sends(&events).iter().map(|v| format!("{v:?}")).collect();
        values
    };
    let (calm, rough) = (seat_values(None), seat_values(Some(500)));
    assert!(calm.len() > 500);
    assert!(rough.difference(&calm).count() <= 2, "at most the last send of each seat differs");
}

#[test]
fn an_operation_in_doubt_is_followed_by_a_new_client_with_new_processes() {
    let events = run(&mut fleet(1, |s| s.idempotence = false), 1_000, Some(500));
    let infos: Vec<&Process> = events
        .iter()
        .filter(|event| event.kind == EventKind::Info && event.f == Function::Send)
        .map(|event| &event.process)
        .collect();
    assert!(!infos.is_empty());
    let opened = events.iter().filter(|event| event.f == Function::Open).count();
    assert_eq!(opened, 3 + 1, "two producers, a consumer, and one successor");
    for process in infos {
        let last = events.iter().rfind(|event| event.process == *process);
        assert_eq!(last.map(|event| event.kind), Some(EventKind::Info), "{process:?}");
    }
}

#[test]
fn every_process_has_one_operation_at_a_time() {
    let events = run(&mut fleet(3, |_| ()), 2_000, Some(700));
    let mut busy = BTreeSet::new();
    for event in &events {
        let Process::Client(process) = event.process else { continue };
        match event.kind {
            EventKind::Invoke => assert!(busy.insert(process), "{event:?}"),
            _ => assert!(busy.remove(&process), "{event:?}"),
        }
    }
}

#[test]
fn a_stopped_fleet_comes_to_rest() {
    let mut fleet = fleet(1, |_| ());
    let events = run_and_stop(&mut fleet, 1_000, None, 300);
    assert!(fleet.is_idle());
    assert!(sends(&events).len() > 200);
    assert!(events.iter().all(|event| event.time < 310_000_000));
}

#[test]
fn open_loop_sends_keep_their_intended_times() {
    let events = run(&mut fleet(1, |s| s.rate = 100), 2_000, None);
    let times: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == EventKind::Invoke && event.f == Function::Send)
        .map(|event| event.intended.unwrap_or(event.time))
        .collect();
    assert_eq!(times.len(), 200);
    for (nth, time) in times.iter().enumerate() {
        assert_eq!(*time, nth as u64 * 10_000_000, "send {nth}");
    }
}
