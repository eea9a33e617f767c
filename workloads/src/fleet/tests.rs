//! The fleet against a broker in memory: recording order, successors, determinism.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Event, EventValue,
    event::{Attempts, EventKind, Function, Process},
};

use super::{Crashed, Effect, Fleet, FleetConfig, Input, Kind, Victims};
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
    run_and(fleet, (millis, stop), cut, |_, _, _| ())
}

/// As [`run_and_stop`]; something else is done after each step.
fn run_and(
    fleet: &mut Fleet,
    (millis, stop): (u64, u64),
    cut: Option<u64>,
    mut other: impl FnMut(&mut Fleet, Time, &mut Vec<Effect>),
) -> Vec<Event> {
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
        other(fleet, now, &mut effects);
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

/// Lets clients crash with their requests on the way, and runs on; gives the history, who crashed,
/// and when.
fn crash(fleet: &mut Fleet, victims: Victims) -> (Vec<Event>, Vec<Crashed>, u64) {
    let mut crashed = None;
    let events = run_and(fleet, (2_000, u64::MAX), None, |fleet, now, out| {
        if crashed.is_none() && now >= Time::from_millis(700) {
            crashed = Some((fleet.crash(now, victims, out), now.as_nanos()));
        }
    });
    let (gone, at) = crashed.expect("the run was long enough");
    (events, gone, at)
}

#[test]
fn who_crashed_ends_in_doubt_and_its_processes_are_never_used_again() {
    for (kind, count) in [(Kind::Producer, 1), (Kind::Consumer, 1), (Kind::Any, 9)] {
        let mut fleet = fleet(1, |settings| settings.in_flight = 3);
        let (events, gone, at) = crash(&mut fleet, Victims { kind, count, seed: 5 });
        assert_eq!(gone.len(), count.min(3), "no more than there are");
        for client in &gone {
            let last = |process: &u64| {
                let process = Process::Client(*process);
                events.iter().rfind(|event| event.process == process)
            };
            let lasts: Vec<&Event> = client.processes.iter().filter_map(last).collect();
            assert!(lasts.iter().all(|last| last.time <= at), "{client:?}: {lasts:?}");
            let doubts = lasts.iter().filter(|last| last.kind == EventKind::Info).count();
            let idle = usize::from(client.in_flight < client.processes.len());
            assert_eq!(doubts, client.in_flight + idle, "{client:?}: {lasts:?}");
        }
        let opened = events.iter().filter(|event| event.f == Function::Open).count();
        assert_eq!(opened, 3 + gone.len(), "each has one successor");
        let last_open = events.iter().rposition(|event| event.f == Function::Open).unwrap();
        assert!(events.len() > last_open + 100, "the successors work");
    }
}

#[test]
fn an_open_send_of_a_client_that_crashes_tells_what_is_known_of_it() {
    let (events, gone, _) = crash(
        &mut fleet(1, |settings| settings.in_flight = 3),
        Victims { kind: Kind::Producer, count: 1, seed: 5 },
    );
    let code = |event: &&Event| event.error.as_ref().is_some_and(|e| e.code == "CLIENT_CRASHED");
    let doubts: Vec<&Event> = events.iter().filter(code).collect();
    assert_eq!(doubts.len(), gone[0].in_flight);
    assert!(!doubts.is_empty(), "the moment is one with requests on the way");
    for doubt in doubts {
        assert!(doubt.id.is_some(), "an idempotent producer's batch has its identity: {doubt:?}");
        let Some(Attempts::List(attempts)) = &doubt.attempts else { panic!("{doubt:?}") };
        assert_eq!(attempts.last().map(|attempt| &*attempt.code), Some("CLIENT_CRASHED"));
    }
}
