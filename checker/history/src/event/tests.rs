//! Round trips and refusals of events.

use proptest::{collection::vec, option, prelude::*};
use serde_json::{Map, json};

use super::*;
use crate::types::{MAX_OFFSET, Value};

fn round_trip(line: &str) -> Event {
    let event: Event = serde_json::from_str(line).expect("the line is an event");
    let written = serde_json::to_string(&event).expect("an event is JSON");
    let (before, after): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(line).expect("JSON"), serde_json::from_str(&written).expect("JSON"));
    assert_eq!(before, after);
    event
}

fn refusal(line: &str) -> String {
    serde_json::from_str::<Event>(line).expect_err("the line is refused").to_string()
}

#[test]
fn a_send_and_its_acknowledgement() {
    let invoke = round_trip(
        r#"{"index":0,"time":1200345,"process":4,"type":"invoke","f":"send","value":[["send",
        "t-0",17]]}"#,
    );
    let send = |ack| MicroOp::Send { key: "t-0".into(), value: 17, ack };
    assert_eq!(invoke.value, EventValue::Ops(vec![send(Ack::None)]));
    let ok = round_trip(
        r#"{"index":1,"time":1950222,"process":4,"type":"ok","f":"send","value":[["send",
        "t-0",[1041,17]]],"node":2}"#,
    );
    assert_eq!(ok.value, EventValue::Ops(vec![send(Ack::At(1041))]));
    assert_eq!(ok.node, Some(2));
    let untold = round_trip(
        r#"{"index":1,"time":1,"process":4,"type":"ok","f":"send","value":[["send",
        "t-0",[null,17]]]}"#,
    );
    assert_eq!(untold.value, EventValue::Ops(vec![send(Ack::Unknown)]));
}

#[test]
fn fields_may_come_in_any_order_and_unknown_ones_stay() {
    let event = round_trip(
        r#"{"value":[["poll"]],"f":"poll","colour":{"deep":[1,null]},"type":"invoke",
        "process":9,"time":2,"index":7}"#,
    );
    assert_eq!(event.value, EventValue::Ops(vec![MicroOp::Poll { records: None }]));
    assert_eq!(event.extra["colour"], json!({"deep": [1, null]}));
}

#[test]
fn keys_of_a_poll_keep_their_order() {
    let line = concat!(
        r#"{"index":3,"time":2,"process":9,"type":"ok","f":"poll","#,
        r#""value":[["poll",{"t-1":[[3,9]],"t-0":[[1040,12],[1041,17]]}]]}"#
    );
    let event: Event = serde_json::from_str(line).expect("the line is an event");
    assert_eq!(serde_json::to_string(&event).expect("JSON"), line);
}

#[test]
fn what_stands_beside_a_completion() {
    let event = round_trip(
        r#"{"index":9,"time":5,"process":4,"type":"info","f":"send","value":[["send","t-0",1]],
            "error":{"code":"TIMEOUT","after_ms":1500},
            "errors":[null,{"code":"X","outcome":"fail"}],
            "attempts":[{"node":1,"at":3,"took":2,"code":"TIMEOUT"}],
            "id":{"producer_id":9,"producer_epoch":0,"sequence":12},"intended":1,
            "leader_epochs":{"t-0":[[0,3],[9,4]]},"rebalance-log":[{"keys":["t-0"]}],
            "payload_errors":[{"key":"t-0","offset":4,"fault":"misplaced","found_key":"t-1"}]}"#,
    );
    assert_eq!(event.error.as_ref().map(|error| error.code.as_str()), Some("TIMEOUT"));
    assert!(event.errors.expect("errors")[1].as_ref().is_some_and(EventError::is_definite));
}

#[test]
fn an_error_that_is_a_word_becomes_a_code() {
    let line = r#"{"index":1,"time":5,"process":4,"type":"fail","f":"poll","error":"timeout"}"#;
    let event: Event = serde_json::from_str(line).expect("the line is an event");
    assert_eq!(event.error, Some(EventError::code("timeout")));
}

#[test]
fn hidden_attempts() {
    let event = round_trip(
        r#"{"index":1,"time":5,"process":4,"type":"fail","f":"send","value":[["send","t-0",1]],
        "attempts":"hidden"}"#,
    );
    assert_eq!(event.attempts, Some(Attempts::Hidden));
}

#[test]
fn the_harness_and_the_nemesis() {
    let open = round_trip(
        r#"{"index":0,"time":0,"process":"harness","type":"info","f":"open",
        "value":{"client":1,"kind":"producer","processes":[1,2],"acks":"all","linger_ms":0}}"#,
    );
    let EventValue::Open(client) = open.value else { panic!("an open event opens a client") };
    assert_eq!(client.acks, Some(Acks::All));
    assert_eq!(client.extra["linger_ms"], 0);
    let kill = round_trip(
        r#"{"index":4,"time":2500000,"process":"nemesis","type":"info","f":"kill",
        "value":{"nodes":[2]}}"#,
    );
    assert_eq!(kill.value, EventValue::Other(json!({"nodes": [2]})));
}

#[test]
fn a_refusal_names_the_field() {
    let cases = [
        (r#"{"time":1,"process":1,"type":"ok","f":"poll"}"#, "field `index`: missing"),
        (r#"{"index":-1,"time":1,"process":1,"type":"ok","f":"poll"}"#, "field `index`"),
        (r#"{"index":1,"time":1,"process":1,"type":"okay","f":"poll"}"#, "field `type`: unknown"),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"send","value":[["post","t-0",1]]}"#,
            r#"field `value`: unknown micro-operation "post""#,
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"send","value":[["send","t-0"]]}"#,
            "field `value`: a micro-operation lacks its value",
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"send","value":[["send",
            "t-0",1,2]]}"#,
            "field `value`: a micro-operation has too many elements",
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"poll","attempts":"some"}"#,
            "field `attempts`",
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"commit","generation":"2"}"#,
            "field `generation`: \"2\", expected a whole number",
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"commit","group":5}"#,
            "field `group`: 5, expected a string",
        ),
        (
            r#"{"index":1,"time":1,"process":1,"type":"ok","f":"send","record_keys":"x"}"#,
            "field `record_keys`: \"x\", expected a list",
        ),
    ];
    for (line, wanted) in cases {
        let why = refusal(line);
        assert!(why.contains(wanted), "{line}\n{why}");
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    "[a-z]{1,3}-[0-9]{1,2}|[ \"\\\\é]{1,30}".prop_map(Key::from)
}

fn any_read() -> impl Strategy<Value = ReadRecord> {
    (option::of(0..=MAX_OFFSET), any::<Value>()).prop_map(|(at, value)| ReadRecord(at, value))
}

fn any_ack() -> impl Strategy<Value = Ack> {
    prop_oneof![Just(Ack::None), Just(Ack::Unknown), (0..=MAX_OFFSET).prop_map(Ack::At)]
}

fn any_op() -> impl Strategy<Value = MicroOp> {
    let send = (any_key(), any::<Value>(), any_ack()).prop_map(|(key, value, ack)| MicroOp::Send {
        key,
        value,
        ack,
    });
    let records = vec((any_key(), vec(any_read(), 0..4)), 0..3).prop_map(|mut keys| {
        keys.sort_by(|a: &(Key, Vec<ReadRecord>), b| a.0.cmp(&b.0));
        keys.dedup_by(|a, b| a.0 == b.0);
        keys
    });
    prop_oneof![send, option::of(records).prop_map(|records| MicroOp::Poll { records })]
}

/// Also where there are too many keys to compare each with each.
#[test]
fn a_poll_names_a_key_once() {
    let poll = |keys: &[usize]| {
        let read: Vec<_> = keys.iter().map(|key| format!("\"t-{key}\":[[0,1]]")).collect();
        serde_json::from_str::<MicroOp>(&format!("[\"poll\",{{{}}}]", read.join(",")))
    };
    let many: Vec<usize> = (0..100_000).collect();
    assert!(poll(&many).is_ok());
    for few in [2, 31, 32, 33, 90] {
        for first in [0, few - 1] {
            let twice = [&many[..few], &[first]].concat();
            let why = poll(&twice).expect_err("it is refused").to_string();
            assert!(why.contains(&format!("`t-{first}` stands twice")), "{few}: {why}");
        }
    }
}

prop_compose! {
    fn any_event()(
        index in any::<u64>(),
        time in any::<u64>(),
        process in any::<u64>(),
        kind in prop_oneof![
            Just(EventKind::Invoke), Just(EventKind::Ok), Just(EventKind::Fail),
            Just(EventKind::Info),
        ],
        ops in vec(any_op(), 0..4),
        node in option::of(any::<i32>()),
        error in option::of(".{0,9}"),
        intended in option::of(any::<u64>()),
        extra in option::of("[x-z]{1,4}"),
    ) -> Event {
        let mut event = Event::new(time, Process::Client(process), kind, Function::Txn);
        event.index = index;
        event.value = EventValue::Ops(ops);
        event.node = node;
        event.error = error.map(EventError::code);
        event.intended = intended;
        event.extra = extra.map(|name| (name, json!([1]))).into_iter().collect::<Map<_, _>>();
        event
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(event in any_event()) {
        let line = serde_json::to_string(&event).expect("an event is JSON");
        prop_assert!(!line.contains('\n'));
        let back: Event = serde_json::from_str(&line).expect("what we write is an event");
        prop_assert_eq!(back, event);
    }

    #[test]
    fn no_text_makes_reading_panic(line in ".{0,80}") {
        let _ = serde_json::from_str::<Event>(&line);
    }
}
