//! Tests of how operations and replicas' logs read as evidence.

use highwater_history::{
    Event, EventValue,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
    verdict::Finding,
};

use super::operation::operation;

fn found(value: i64, offset: i64) -> Finding {
    Finding {
        key: Some("t-0".into()),
        value: Some(value),
        offset: Some(offset),
        ..Finding::default()
    }
}

fn poll(records: Vec<ReadRecord>) -> Event {
    let read =
        Some(vec![("other-0".into(), vec![ReadRecord(Some(1), 1)]), ("t-0".into(), records)]);
    Event::new(0, Process::Client(1), EventKind::Ok, Function::Poll)
        .with_value(EventValue::Ops(vec![MicroOp::Poll { records: read }]))
}

#[test]
fn a_send_says_where_it_was_acknowledged() {
    let text = |ack| {
        let op = MicroOp::Send { key: "t-0".into(), value: 7, ack };
        let event = Event::new(0, Process::Client(1), EventKind::Ok, Function::Send)
            .with_value(EventValue::Ops(vec![op]));
        operation(&event, &found(7, 3), true)
    };
    assert_eq!(text(Ack::None), "send t-0 value 7");
    assert_eq!(text(Ack::At(3)), "send t-0 value 7 at 3");
    assert_eq!(text(Ack::Unknown), "send t-0 value 7 at an offset not told");
}

#[test]
fn a_short_poll_is_shown_whole_and_other_keys_are_left_out() {
    let event = poll(vec![ReadRecord(Some(3), 7), ReadRecord(None, 8)]);
    assert_eq!(operation(&event, &found(7, 3), true), "poll t-0 read 3:7 ?:8");
}

#[test]
fn an_operation_on_other_keys_is_shown_only_when_it_is_pointed_at() {
    let event = poll(Vec::new());
    assert_eq!(operation(&event, &found(7, 3), false), "poll");
    assert_eq!(operation(&event, &found(7, 3), true), "poll other-0 read 1:1");
}

#[test]
fn a_long_poll_is_cut_down_to_what_is_near_the_finding() {
    let records = |skipped| {
        let offsets = (0..1_000).filter(move |offset| *offset != skipped);
        offsets.map(|offset| ReadRecord(Some(offset), offset + 100)).collect()
    };
    let near = "poll t-0 read 1,000 records, … 497:597 498:598 499:599 500:600 501:601 502:602 \
                503:603 …";
    assert_eq!(operation(&poll(records(-1)), &found(600, 500), true), near);
    let skipped = "poll t-0 read 999 records, … 497:597 498:598 499:599 501:601 502:602 503:603 \
                   504:604 …";
    assert_eq!(operation(&poll(records(500)), &found(600, 500), true), skipped);
    let far = "poll t-0 read 1,000 records, 0:100 … 999:1099";
    assert_eq!(operation(&poll(records(-1)), &found(9_000, 8_900), true), far);
}
