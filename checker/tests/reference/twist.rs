//! Wrong readings of the definitions: the reference judges another history than the checker.

use highwater_history::{
    Event, EventValue,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
};

use super::case::Case;

/// A rule and how a history is changed so that the reference does not know it.
pub type Twist = (&'static str, fn(&mut Case));

/// Every rule that is read otherwise.
pub const TWISTS: &[Twist] = &[
    ("a poll inside a failed operation is evidence", |case| forget_reads(case, EventKind::Fail)),
    ("a poll inside an unknown operation is evidence", |case| forget_reads(case, EventKind::Info)),
    ("an unknown operation is certain once read", |case| forget_acks(case, EventKind::Info)),
    ("a failed operation is never certain", |case| {
        turn(case, EventKind::Fail, EventKind::Info, &[Function::Send, Function::Txn]);
    }),
    ("an unknown operation that nobody read is not certain", |case| {
        turn(case, EventKind::Info, EventKind::Ok, &[Function::Send, Function::Txn]);
    }),
    ("only an ok operation moves the position", |case| {
        turn(case, EventKind::Info, EventKind::Ok, &[Function::Poll]);
    }),
    ("a failed assignment changes nothing", |case| {
        turn(case, EventKind::Fail, EventKind::Ok, &[Function::Assign, Function::Subscribe]);
    }),
    ("an unknown assignment counts", |case| {
        turn(case, EventKind::Info, EventKind::Fail, &[Function::Assign, Function::Subscribe]);
    }),
    ("keys that changed hands are not judged within an operation", |case| {
        case.events.iter_mut().for_each(|event| event.rebalance_log = None);
    }),
    ("a seek to the beginning forgets the position", |case| {
        case.events.iter_mut().for_each(|event| event.seek_to_beginning = false);
    }),
    ("a subscribe permits skips", assign_instead),
    ("an assignment forgets what it drops", forget_assignments),
    ("a read without an offset has the record's only one", forget_unplaced_reads),
    ("positions belong to a process", |case| {
        let of_client = |event: &&mut Event| matches!(event.process, Process::Client(_));
        for (nth, event) in case.events.iter_mut().filter(of_client).enumerate() {
            event.process = Process::Client(nth as u64 / 2);
        }
    }),
    ("circles in real time go by the clock", |case| {
        case.events.iter_mut().for_each(|event| event.time = 0);
    }),
    ("what acks permit", |case| case.promise.acks = None),
    ("what isolation permits", |case| case.promise.isolation = None),
    ("what idempotence permits", |case| case.promise.idempotence = None),
];

fn turn(case: &mut Case, from: EventKind, to: EventKind, of: &[Function]) {
    for event in &mut case.events {
        if event.kind == from && of.contains(&event.f) {
            event.kind = to;
        }
    }
}

/// The micro-operations of completions of a kind.
fn micro_ops(case: &mut Case, kind: EventKind) -> impl Iterator<Item = &mut MicroOp> {
    let of_kind = case.events.iter_mut().filter(move |event| event.kind == kind);
    of_kind.flat_map(|event| match &mut event.value {
        EventValue::Ops(ops) => ops.iter_mut(),
        _ => [].iter_mut(),
    })
}

fn forget_reads(case: &mut Case, kind: EventKind) {
    for op in micro_ops(case, kind) {
        if let MicroOp::Poll { records } = op {
            *records = None;
        }
    }
}

fn forget_acks(case: &mut Case, kind: EventKind) {
    for op in micro_ops(case, kind) {
        if let MicroOp::Send { ack, .. } = op {
            *ack = Ack::None;
        }
    }
}

fn forget_unplaced_reads(case: &mut Case) {
    for op in micro_ops(case, EventKind::Ok) {
        let MicroOp::Poll { records: Some(records) } = op else { continue };
        for (_, records) in records {
            records.retain(|ReadRecord(offset, _)| offset.is_some());
        }
    }
}

fn assign_instead(case: &mut Case) {
    for event in case.events.iter_mut().filter(|event| event.f == Function::Subscribe) {
        event.f = Function::Assign;
    }
}

fn forget_assignments(case: &mut Case) {
    case.events.retain(|event| !matches!(event.f, Function::Assign | Function::Subscribe));
}
