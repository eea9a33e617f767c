//! What is written is read back, all of it.

use proptest::{collection::vec, option, prelude::*};
use serde_json::{Map, Value};

use super::*;
use crate::{
    event::{
        Ack, Attempt, Attempts, BatchId, EpochRun, EventError, EventKind, EventValue, Function,
        MicroOp, PayloadError, PayloadFault, Process, ReadRecord, Rebalance,
    },
    types::{Key, MAX_OFFSET},
};

#[test]
fn keys_are_numbers_where_all_are() {
    let event = |key: &str| {
        let op = MicroOp::Send { key: key.into(), value: 1, ack: Ack::None };
        Event::new(5, Process::Client(0), EventKind::Invoke, Function::Send)
            .with_value(EventValue::Ops(vec![op]))
    };
    let head = "{:index 0, :time 5, :type :invoke, :process 0, :f :send, :value [[:send ";
    assert_eq!(written(&event("t-12"), Keys::Numbers), format!("{head}12 1]]}}\n"));
    assert_eq!(written(&event("t-12"), Keys::Texts), format!("{head}\"t-12\" 1]]}}\n"));
    for other in ["t-", "t-01", "t-00", "t-+1", "t--1", "u-1", "t-9223372036854775808", "12", ""] {
        let mut out = String::new();
        write_event(&mut out, &event(other), Keys::Numbers).expect_err("it is no number");
        assert_eq!(read(written(&event(other), Keys::Texts)).expect("read").0, [event(other)]);
    }
    for number in ["t-0", "t-9223372036854775807"] {
        assert_eq!(read(written(&event(number), Keys::Numbers)).expect("read").0, [event(number)]);
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    "t-[0-9]{1,2}|[a-z]{1,3}-[0-9]{1,2}|[ \"\\\\é:/\n]{0,9}".prop_map(Key::from)
}

fn keyed<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<(Key, T)>> {
    vec((any_key(), of), 0..3).prop_map(|mut pairs| {
        pairs.sort_by(|a, b| b.0.cmp(&a.0));
        pairs.dedup_by(|a, b| a.0 == b.0);
        pairs
    })
}

fn any_value() -> impl Strategy<Value = EventValue> {
    let ack = prop_oneof![Just(Ack::None), Just(Ack::Unknown), (0..=MAX_OFFSET).prop_map(Ack::At)];
    let send = (any_key(), any::<i64>(), ack).prop_map(|(key, value, ack)| MicroOp::Send {
        key,
        value,
        ack,
    });
    let record = (option::of(0..=MAX_OFFSET), any::<i64>()).prop_map(|(at, v)| ReadRecord(at, v));
    let poll = option::of(keyed(vec(record, 0..4))).prop_map(|records| MicroOp::Poll { records });
    let op = prop_oneof![send, poll];
    prop_oneof![Just(EventValue::None), vec(op, 0..4).prop_map(EventValue::Ops)]
}

/// Names that have a meaning somewhere, and any other.
fn any_name() -> impl Strategy<Value = String> {
    let taken = "(jepsen|highwater|x)/(node|errors|attempts|id|leader_epochs|intended|zork)";
    prop_oneof![taken, "[a-z]{4,7}[?!]?", "zork[ \"\\\\é:/#\\[\n0-9]{1,4}"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no other", |n| n.is_finite()).prop_map(Value::from),
        ".{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let fields = vec((".{0,5}|[a-z]{1,3}", inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_error() -> impl Strategy<Value = EventError> {
    let said = option::of(any_json()).prop_map(|said| said.map(|said| ("said".to_owned(), said)));
    ("[A-Z_]{1,9}|.{0,9}", option::of("fail|unknown"), said).prop_map(|(code, outcome, said)| {
        EventError { code, outcome, extra: said.into_iter().collect() }
    })
}

fn any_attempts() -> impl Strategy<Value = Attempts> {
    let attempt = (any::<i32>(), any::<u64>(), any::<u64>(), "[A-Z]{1,4}")
        .prop_map(|(node, at, took, code)| Attempt { node, at, took, code });
    prop_oneof![Just(Attempts::Hidden), vec(attempt, 0..3).prop_map(Attempts::List)]
}

fn any_process() -> impl Strategy<Value = Process> {
    let other = "n[a-z ]{0,5}".prop_map(|name| Process::Other(name.as_str().into()));
    let client = any::<u64>().prop_map(Process::Client);
    prop_oneof![8 => client, 1 => Just(Process::Nemesis), 1 => other]
}

prop_compose! {
    fn any_detail()(
        attempts in option::of(any_attempts()),
        id in option::of((any::<i64>(), any::<i16>(), any::<i32>())),
        leader_epochs in option::of(keyed(vec((0..=MAX_OFFSET, any::<i32>()), 0..3))),
        moved in option::of(vec((vec(any_key(), 0..3), option::of(any_json())), 0..3)),
        misplaced in option::of((any_key(), 0..=MAX_OFFSET, option::of(any::<i64>()))),
        seek_to_beginning in any::<bool>(),
        intended in option::of(any::<u64>()),
        errors in option::of(vec(option::of(any_error()), 0..3)),
    ) -> Event {
        let mut event = Event::new(0, Process::Harness, EventKind::Ok, Function::Txn);
        event.attempts = attempts;
        event.id = id.map(|(producer_id, producer_epoch, sequence)| {
            BatchId { producer_id, producer_epoch, sequence }
        });
        let epoch_runs = |runs: Vec<_>| runs.into_iter().map(|(at, e)| EpochRun(at, e)).collect();
        event.leader_epochs = leader_epochs
            .map(|keys| keys.into_iter().map(|(key, runs)| (key, epoch_runs(runs))).collect());
        event.rebalance_log = moved.map(|moved| {
            let extra = |more: Option<Value>| more.map(|more| ("more".to_owned(), more));
            let of = |(keys, more)| Rebalance { keys, extra: extra(more).into_iter().collect() };
            moved.into_iter().map(of).collect()
        });
        event.payload_errors = misplaced.map(|(key, offset, value)| {
            let (fault, found_key) = (PayloadFault::Misplaced, Some(key.clone()));
            vec![PayloadError { key, offset, fault, value, found_key, detail: None }]
        });
        event.seek_to_beginning = seek_to_beginning;
        event.intended = intended;
        event.errors = errors;
        event
    }
}

prop_compose! {
    fn any_event()(
        detail in any_detail(),
        place in (any::<u64>(), any::<u64>()),
        process in any_process(),
        ops in any_value(),
        other in any_json(),
        f in "zork|[a-z -]{1,5}|kill",
        node in option::of(any::<i32>()),
        error in option::of(any_error()),
        extra in vec((any_name(), any_json()), 0..3),
    ) -> Event {
        let is_client = matches!(process, Process::Client(_));
        let mut event = Event { process, node, error, ..detail };
        (event.index, event.time) = place;
        event.extra = extra.into_iter().collect();
        event.value = ops;
        if !is_client || f == "zork" {
            event.f = Function::Other(f.as_str().into());
            event.value = EventValue::Other(other);
        }
        if event.value == EventValue::Other(Value::Null) {
            event.value = EventValue::None;
        }
        event
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(event in any_event()) {
        let text = written(&event, Keys::Texts);
        prop_assert_eq!(text.matches('\n').count(), 1, "an event is a line");
        let (back, cut) = read(&text).expect("what we write is read");
        prop_assert_eq!((&back[..], cut), (std::slice::from_ref(&event), None), "{}", text);
        let mut out = String::new();
        if write_event(&mut out, &event, Keys::Numbers).is_ok() {
            prop_assert_eq!(read(&out).expect("what we write is read").0, [event], "{}", out);
        }
    }
}

#[test]
fn every_event_of_our_own_is_read_back() {
    for line in include_str!("../../../../../docs/formats.md")
        .lines()
        .filter(|line| line.starts_with("{\"index\":"))
    {
        let event: Event = serde_json::from_str(line).expect("an example is an event");
        let text = written(&event, Keys::Numbers);
        assert_eq!(read(&text).expect("what we write is read").0, [event], "{text}");
    }
}
