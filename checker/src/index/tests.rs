//! What judging assumes, and what the index makes of a history.

use highwater_history::{
    Event, EventValue, Key,
    columns::Columns,
    event::{Ack, EventError, EventKind, Function, MicroOp, Process, ReadRecord},
};

use super::{
    Builder, Index,
    operations::{Operations, Outcome},
    order::Order,
    reads::Reads,
    records::Records,
};

fn event(process: u64, kind: EventKind, f: Function, ops: Vec<MicroOp>) -> Event {
    Event::new(0, Process::Client(process), kind, f).with_value(EventValue::Ops(ops))
}

fn send(value: i64, ack: Ack) -> Vec<MicroOp> {
    vec![MicroOp::Send { key: Key::from("x"), value, ack }]
}

fn take(builder: &mut Builder<'_>, event: Event) -> Result<(), String> {
    let mut columns = Columns::default();
    columns.push(1, event);
    builder.observe(&columns).map_err(|unfit| unfit.why)
}

fn observe(events: Vec<Event>) -> Result<Index, String> {
    let mut builder = Builder::new(None);
    for (nth, mut event) in events.into_iter().enumerate() {
        event.index = nth as u64;
        event.time = event.time.max(nth as u64);
        take(&mut builder, event)?;
    }
    Ok(builder.finish())
}

fn refusal(events: Vec<Event>) -> String {
    observe(events).expect_err("the history is unfit")
}

#[test]
fn two_invokes_in_flight_are_refused() {
    let why = refusal(vec![
        event(7, EventKind::Invoke, Function::Send, send(1, Ack::None)),
        event(7, EventKind::Invoke, Function::Send, send(2, Ack::None)),
    ]);
    assert_eq!(why, "process 7 invokes while an operation is in flight");
}

#[test]
fn a_completion_without_invocation_is_refused() {
    let why = refusal(vec![event(7, EventKind::Ok, Function::Send, send(1, Ack::At(0)))]);
    assert_eq!(why, "process 7 completes what it never invoked");
}

#[test]
fn a_completion_of_another_function_or_record_is_refused() {
    let invoke = event(7, EventKind::Invoke, Function::Send, send(1, Ack::None));
    let other_f = event(7, EventKind::Ok, Function::Txn, send(1, Ack::At(0)));
    let why = refusal(vec![invoke.clone(), other_f]);
    assert_eq!(why, "process 7 invokes send and completes txn");
    let other_value = event(7, EventKind::Ok, Function::Send, send(2, Ack::At(0)));
    let why = refusal(vec![invoke.clone(), other_value]);
    assert_eq!(why, "a completion names value 2 of x, its invocation 1 of x");
    let none = event(7, EventKind::Ok, Function::Send, vec![]);
    assert_eq!(refusal(vec![invoke, none]), "a completion names 0 sends, its invocation 1");
}

/// An entry of `errors` is definite only where it says so, also when the whole operation failed.
#[test]
fn one_error_of_a_failed_operation_is_unknown_unless_it_says_fail() {
    let mut ops = send(1, Ack::None);
    ops.extend(send(2, Ack::None));
    ops.extend(send(3, Ack::None));
    let mut failed = event(7, EventKind::Fail, Function::Send, ops.clone());
    let definite = EventError { outcome: Some("fail".to_owned()), ..EventError::code("A") };
    failed.errors = Some(vec![Some(EventError::code("TIMEOUT")), Some(definite), None]);
    let index = observe(vec![event(7, EventKind::Invoke, Function::Send, ops), failed])
        .expect("the history is fit");
    let records = &index.keys[0].records;
    let outcomes: Vec<_> = records.ids().map(|id| records.outcome(id)).collect();
    assert_eq!(outcomes, [Outcome::Info, Outcome::Fail, Outcome::Fail]);
}

/// In memory nobody has looked at the offsets yet; no sum of them may overflow.
#[test]
fn offsets_at_both_ends_have_ranks() {
    let (mut records, mut reads) = (Records::default(), Reads::default());
    for (nth, offset) in [i64::MIN + 1, -1, i64::MAX].into_iter().enumerate() {
        let record = records.intern(nth as i64);
        records.note_read(record, 0, Outcome::Ok);
        reads.push(0, Some(offset), record);
    }
    let order = Order::build(&records, &reads, &Operations::default());
    assert_eq!(order.step(-1, i64::MAX), 1);
    assert_eq!(order.step(i64::MAX, i64::MIN + 1), -2);
}

#[test]
fn a_value_sent_twice_is_refused() {
    let why = refusal(vec![
        event(7, EventKind::Invoke, Function::Send, send(1, Ack::None)),
        event(8, EventKind::Invoke, Function::Send, send(1, Ack::None)),
    ]);
    assert_eq!(why, "value 1 is sent to x a second time");
}

#[test]
fn time_or_index_running_back_is_refused() {
    let mut builder = Builder::new(None);
    let mut first = event(7, EventKind::Invoke, Function::Send, send(1, Ack::None));
    (first.index, first.time) = (5, 100);
    let mut second = event(8, EventKind::Invoke, Function::Send, send(2, Ack::None));
    (second.index, second.time) = (6, 99);
    take(&mut builder, first).expect("the first event is fit");
    let why = take(&mut builder, second.clone()).expect_err("time runs back");
    assert_eq!(why, "time runs back from 100 to 99 ns");
    (second.index, second.time) = (5, 100);
    let why = take(&mut builder, second).expect_err("the index stays");
    assert_eq!(why, "index 5 does not rise above 5");
}

#[test]
fn an_operation_without_completion_is_info() {
    let index = observe(vec![event(7, EventKind::Invoke, Function::Send, send(1, Ack::None))])
        .expect("the history is fit");
    assert_eq!((index.counts.ops, index.counts.info), (1, 1));
    assert_eq!((index.counts.sent, index.counts.acknowledged), (1, 0));
}

#[test]
fn one_ok_read_record_makes_an_info_operation_certain() {
    let two = |a, b| {
        let mut ops = send(1, a);
        ops.extend(send(2, b));
        ops
    };
    let read = vec![MicroOp::Poll { records: Some(vec![("x".into(), vec![ReadRecord(None, 2)])]) }];
    let index = observe(vec![
        event(7, EventKind::Invoke, Function::Send, two(Ack::None, Ack::None)),
        event(9, EventKind::Invoke, Function::Poll, vec![]),
        event(9, EventKind::Ok, Function::Poll, read),
        event(7, EventKind::Info, Function::Send, two(Ack::At(3), Ack::At(4))),
    ])
    .expect("the history is fit");
    let key = &index.keys[0];
    let places: Vec<_> = key.records.ids().map(|id| key.order.sole(id)).collect();
    assert_eq!(places, [Some(3), Some(4)], "offsets that the info send reported count");
}

/// J2: offsets hold sets of values, with gaps; ranks count what is known only.
#[test]
fn ranks_count_known_offsets_only() {
    let ops = Operations::default();
    let (mut records, mut reads) = (Records::default(), Reads::default());
    for (offset, value) in [(1, 10), (5, 20), (5, 30), (90_000, 40), (1, 10)] {
        let record = records.intern(value);
        records.note_read(record, 0, Outcome::Ok);
        reads.push(0, Some(offset), record);
    }
    let order = Order::build(&records, &reads, &ops);
    let known: Vec<_> = order.iter().map(|(offset, holders)| (offset, holders.len())).collect();
    assert_eq!(known, [(1, 1), (5, 2), (90_000, 1)]);
    assert_eq!(order.step(5, 90_000), 1, "a gap is no step");
    assert_eq!(order.step(1, 90_000), 2);
    assert_eq!(order.step(90_000, 1), -2);
    let between: Vec<_> = order.between(1, 90_000).collect();
    assert_eq!(between, [(5, [1, 2].as_slice())]);
    assert_eq!(order.between(90_000, 1).len(), 0);
    assert!(Order::build(&Records::default(), &Reads::default(), &ops).iter().next().is_none());
}

/// J1: the highest offset of ok polls is what bounds lost records.
#[test]
fn epochs_of_reads_are_looked_up_by_offset_and_record() {
    let mut reads = Reads::default();
    for offset in 0..4 {
        reads.push(0, Some(offset), offset as u32);
    }
    reads.push_epoch(0, 0, 3);
    reads.push_epoch(0, 2, 5);
    assert_eq!(reads.epoch_of(1, 1), Some(3));
    assert_eq!(reads.epoch_of(3, 3), Some(5));
    assert_eq!(reads.epoch_of(3, 1), None, "that record was not read there");
}
