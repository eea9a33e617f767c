//! History events of sessions and operations.

use highwater_history::{
    Event, EventValue, Key as KeyName,
    event::{
        Ack, Attempts, ClientKind, EventError, EventKind, Function, MicroOp, OpenClient, OpenTopic,
        Process,
    },
    types::ClientId,
};
use serde_json::{Map, Value as Json};

use super::session::Session;
use crate::{
    Catalog, Completion, Key, Op, Outcome, Settings, Time,
    op::{Gave, KeyRead},
    workload::Role,
};

/// The keys' names as the history writes them.
#[derive(Debug)]
pub(super) struct Names(Vec<KeyName>);

impl Names {
    pub(super) fn new(catalog: &Catalog) -> Names {
        Names(catalog.keys().map(|key| KeyName::from(catalog.name(key))).collect())
    }

    fn of(&self, key: Key) -> KeyName {
        self.0[key.0 as usize].clone()
    }

    /// One event a key: what it stands for.
    pub(super) fn open_topics(&self, now: Time, catalog: &Catalog) -> Vec<Event> {
        let event = |key| {
            let topic = catalog.topic(key);
            let open = OpenTopic {
                key: self.of(key),
                topic: topic.name.clone(),
                topic_id: Some(topic.id.to_string()),
                partition: catalog.partition(key),
                extra: Map::new(),
            };
            harness_event(now, Function::OpenTopic, EventValue::OpenTopic(Box::new(open)))
        };
        catalog.keys().map(event).collect()
    }
}

/// The event of a client session that begins.
pub(super) fn open(
    now: Time,
    (client, role): (ClientId, Role),
    settings: &Settings,
    session: &Session,
    producer: Option<(i64, i16)>,
) -> Event {
    let (kind, acks) = match role {
        Role::Producer(acks) => (ClientKind::Producer, Some(acks)),
        Role::Consumer => (ClientKind::Consumer, None),
    };
    let retries = producer.is_some() || settings.retries;
    let open = OpenClient {
        client,
        kind,
        processes: session.processes(),
        acks,
        idempotence: acks.map(|_| producer.is_some()),
        retries: acks.map(|_| retries),
        producer_id: producer.map(|(id, _)| id),
        producer_epoch: producer.map(|(_, epoch)| epoch),
        isolation: (kind == ClientKind::Consumer).then_some(settings.isolation),
        group: None,
        role: Some("workload".into()),
        extra: Map::new(),
    };
    harness_event(now, Function::Open, EventValue::Open(Box::new(open)))
}

/// The event of an operation that begins at `now` and should have begun at `intended`.
pub(super) fn invocation(
    (now, intended): (Time, Time),
    process: u64,
    op: &Op,
    names: &Names,
) -> Event {
    let mut event = client_event(now, process, EventKind::Invoke, op);
    match op {
        Op::Send { key, values } => event.value = sends(names.of(*key), values, |_| Ack::None),
        Op::Poll => event.value = EventValue::Ops(vec![MicroOp::Poll { records: None }]),
        Op::Assign { .. } => assign(&mut event, op, names),
    }
    event.intended = (intended < now).then_some(intended.as_nanos());
    event
}

/// The event of an operation that ended.
pub(super) fn completion(
    now: Time,
    process: u64,
    op: &Op,
    completion: &Completion,
    names: &Names,
) -> Event {
    let kind = match completion.outcome {
        Outcome::Ok => EventKind::Ok,
        Outcome::Fail => EventKind::Fail,
        Outcome::Info => EventKind::Info,
    };
    let mut event = client_event(now, process, kind, op);
    event.node = completion.node;
    event.error = completion.error.map(EventError::code);
    match (op, &completion.gave) {
        (Op::Send { key, values }, Gave::Sent { base_offset, id, attempts }) => {
            let ok = kind == EventKind::Ok;
            let ack = |nth| match base_offset {
                Some(base) if ok => Ack::At(base + nth),
                None if ok => Ack::Unknown,
                _ => Ack::None,
            };
            event.value = sends(names.of(*key), values, ack);
            event.id = *id;
            event.attempts = Some(Attempts::List(attempts.clone()));
        }
        (Op::Poll, Gave::Polled { reads, errors }) => {
            polled(&mut event, reads, names);
            key_errors(&mut event, errors, names);
        }
        (Op::Assign { .. }, Gave::Assigned) => assign(&mut event, op, names),
        _ => unreachable!("an operation ends as its own kind"),
    }
    event
}

/// The event of a client that is thrown away while this process of it does nothing.
pub(super) fn crash(now: Time, process: u64, kind: EventKind) -> Event {
    Event::new(now.as_nanos(), Process::Client(process), kind, Function::Crash)
}

fn polled(event: &mut Event, reads: &[(Key, KeyRead)], names: &Names) {
    let records = match event.kind {
        EventKind::Ok => Some(
            reads
                .iter()
                .filter(|(_, read)| !read.records.is_empty())
                .map(|(key, read)| (names.of(*key), read.records.clone()))
                .collect(),
        ),
        _ => None,
    };
    event.value = EventValue::Ops(vec![MicroOp::Poll { records }]);
    let epochs: Vec<_> = reads
        .iter()
        .filter(|(_, read)| !read.epochs.is_empty())
        .map(|(key, read)| (names.of(*key), read.epochs.clone()))
        .collect();
    event.leader_epochs = (!epochs.is_empty()).then_some(epochs);
    let strange: Vec<_> =
        reads.iter().flat_map(|(_, read)| read.payload_errors.iter().cloned()).collect();
    event.payload_errors = (!strange.is_empty()).then_some(strange);
}

/// Keys that answered a poll with an error while others gave records.
fn key_errors(event: &mut Event, errors: &[(Key, &'static str)], names: &Names) {
    if !errors.is_empty() {
        let by_key =
            errors.iter().map(|(key, code)| (names.of(*key).to_string(), Json::from(*code)));
        event.extra.insert("key_errors".into(), Json::Object(by_key.collect()));
    }
}

fn assign(event: &mut Event, op: &Op, names: &Names) {
    let Op::Assign { keys, seek_to_beginning } = op else {
        unreachable!("the caller matched an assignment");
    };
    event.value = EventValue::Keys(keys.iter().map(|key| names.of(*key)).collect());
    event.seek_to_beginning = *seek_to_beginning;
}

fn sends(key: KeyName, values: &[i64], ack: impl Fn(i64) -> Ack) -> EventValue {
    let send = |(nth, value): (i64, &i64)| MicroOp::Send {
        key: key.clone(),
        value: *value,
        ack: ack(nth),
    };
    EventValue::Ops((0..).zip(values).map(send).collect())
}

fn client_event(now: Time, process: u64, kind: EventKind, op: &Op) -> Event {
    let f = match op {
        Op::Send { .. } => Function::Send,
        Op::Poll => Function::Poll,
        Op::Assign { .. } => Function::Assign,
    };
    Event::new(now.as_nanos(), Process::Client(process), kind, f)
}

fn harness_event(now: Time, f: Function, value: EventValue) -> Event {
    Event::new(now.as_nanos(), Process::Harness, EventKind::Info, f).with_value(value)
}
