//! Tests of the pass over the history: latencies, amounts, bins, windows.

use highwater_history::{
    Event, EventValue,
    event::{Ack, Acks, ClientKind, EventKind, Function, MicroOp, OpenClient, Process, ReadRecord},
    reader::HistoryReader,
    recorder::Recorder,
};
use serde_json::Map;

use super::{Activity, Bins, Level, Watch, bins::Amount};

const S: u64 = 1_000_000_000;

fn read(events: Vec<Event>, watches: Vec<Watch>) -> Activity {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.jsonl");
    let mut recorder = Recorder::create(&file).unwrap();
    for mut event in events {
        recorder.append(&mut event).unwrap();
    }
    recorder.flush().unwrap();
    Activity::read(HistoryReader::open(&file).unwrap(), watches).unwrap()
}

fn open(acks: Acks, processes: &[u64]) -> Event {
    let open = OpenClient {
        client: 1,
        kind: ClientKind::Producer,
        processes: processes.to_vec(),
        acks: Some(acks),
        idempotence: None,
        retries: None,
        producer_id: None,
        producer_epoch: None,
        isolation: None,
        group: None,
        role: None,
        extra: Map::new(),
    };
    Event::new(0, Process::Harness, EventKind::Info, Function::Open)
        .with_value(EventValue::Open(Box::new(open)))
}

fn send(time: u64, process: u64, kind: EventKind, key: &str, ack: Ack) -> Event {
    let op = MicroOp::Send { key: key.into(), value: 1, ack };
    Event::new(time, Process::Client(process), kind, Function::Send)
        .with_value(EventValue::Ops(vec![op]))
}

fn indexes(activity: &Activity) -> Vec<(u64, bool)> {
    activity.windows[0].events.iter().map(|(index, (_, hit))| (*index, *hit)).collect()
}

#[test]
fn latency_counts_from_the_intended_start() {
    let mut invoke = send(2 * S, 1, EventKind::Invoke, "t-0", Ack::None);
    invoke.intended = Some(S);
    let events =
        vec![open(Acks::One, &[1]), invoke, send(3 * S, 1, EventKind::Ok, "t-0", Ack::At(0))];
    let activity = read(events, Vec::new());
    let latency = activity.levels[&Level::One].latency.total();
    assert_eq!(latency.len(), 1);
    let median_ns = latency.quantile_ns(0.5).unwrap();
    assert!(median_ns.abs_diff(2 * S) < S / 50, "{median_ns}");
}

#[test]
fn amounts_go_to_their_acks_level_and_kind() {
    let mut polled = Event::new(3 * S, Process::Client(9), EventKind::Ok, Function::Poll);
    let records = vec![("t-0".into(), vec![ReadRecord(Some(0), 1), ReadRecord(Some(1), 2)])];
    polled.value = EventValue::Ops(vec![MicroOp::Poll { records: Some(records) }]);
    let events = vec![
        open(Acks::All, &[1, 2]),
        send(S, 1, EventKind::Invoke, "t-0", Ack::None),
        send(S, 2, EventKind::Invoke, "t-0", Ack::None),
        send(2 * S, 1, EventKind::Ok, "t-0", Ack::At(0)),
        send(2 * S, 2, EventKind::Info, "t-0", Ack::None),
        polled,
    ];
    let activity = read(events, Vec::new());
    let of = &activity.levels[&Level::All];
    assert_eq!((of.acknowledged.total(), of.fail, of.info), (Amount(1), 0, 1));
    assert_eq!(of.latency.total().len(), 1, "an info has no latency");
    assert_eq!(activity.read.total(), Amount(2));
    assert_eq!(activity.end_ns, 3 * S);
}

#[test]
fn bins_stay_few_and_lose_nothing() {
    let mut bins: Bins<Amount> = Bins::default();
    for second in 0..100_000 {
        bins.at(second * S).0 += 1;
    }
    assert!(bins.iter().count() <= 240);
    assert_eq!(bins.total(), Amount(100_000));
    let whole = bins.iter().take(100).map(|(_, amount)| amount.0);
    let per_bin = bins.width_ns() / S;
    assert!(whole.into_iter().all(|n| n.abs_diff(per_bin) <= 1));
}

#[test]
fn a_window_holds_the_operation_and_its_neighbours_on_the_key() {
    let mut events = Vec::new();
    for n in 0..20 {
        let key = if n % 2 == 0 { "t-0" } else { "other-0" };
        events.push(send(n * S, n, EventKind::Invoke, key, Ack::None));
    }
    let watch = Watch { key: Some("t-0".into()), events: vec![10] };
    let activity = read(events, vec![watch]);
    let wanted = [2, 4, 6, 8, 10, 12, 14, 16, 18].map(|index| (index, index == 10));
    assert_eq!(indexes(&activity), wanted);
}

#[test]
fn a_window_marks_both_ends_of_an_operation_whichever_is_pointed_at() {
    for pointed_at in [0, 21] {
        let mut events = vec![send(0, 1, EventKind::Invoke, "t-0", Ack::None)];
        events.extend((2..22).map(|n| send(S, n, EventKind::Invoke, "other-0", Ack::None)));
        events.push(send(2 * S, 1, EventKind::Ok, "t-0", Ack::At(0)));
        events.remove(1);
        let watch = Watch { key: Some("t-0".into()), events: vec![pointed_at.min(20)] };
        let activity = read(events, vec![watch]);
        assert_eq!(indexes(&activity), [(0, true), (20, true)]);
    }
}

#[test]
fn faults_are_part_of_every_window() {
    let fault = Event::new(S, Process::Nemesis, EventKind::Info, Function::from("kill"));
    let events = vec![fault, send(2 * S, 1, EventKind::Invoke, "t-0", Ack::None)];
    let watch = Watch { key: Some("t-0".into()), events: vec![1] };
    assert_eq!(indexes(&read(events, vec![watch])), [(0, false), (1, true)]);
}
