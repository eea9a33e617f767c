//! A history that is built from the input's bytes: always one that can be read, of any shape.

use highwater_history::{
    Event, EventValue, Key,
    event::{
        Ack, Acks, BatchId, ClientKind, EpochRun, EventError, EventKind, Function, Isolation,
        MicroOp, OpenClient, OpenTopic, Process, ReadRecord, Rebalance,
    },
    recorder::Recorder,
};

use super::{folder::Folder, history, judge};

/// The most events of a history.
const MOST_EVENTS: u64 = 200;

/// Builds a history, and judges it in every way.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let file = folder.file("h.jsonl");
    let mut recorder = Recorder::create(&file).expect("a temporary file can be made");
    let mut bytes = Bytes(bytes);
    let mut time = 0;
    while !bytes.0.is_empty() && recorder.len() < MOST_EVENTS {
        time += u64::from(bytes.next() % 16);
        let mut event = bytes.event(time);
        recorder.append(&mut event).expect("a temporary file can be written");
    }
    recorder.flush().expect("a temporary file can be written");
    let file = file.as_path().into();
    assert_eq!(history::read(&file).end, Ok(None), "what was recorded can be read");
    judge::every_way(&folder, &file);
}

/// What is left of the input; zeros behind its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    /// One of so many.
    fn of(&mut self, many: u8) -> u8 {
        self.next() % many
    }

    /// Once in so many times.
    fn once_in(&mut self, many: u8) -> bool {
        self.of(many) == many - 1
    }

    fn some<T>(&mut self, most: u8, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.of(most + 1)).map(|_| one(self)).collect()
    }

    fn key(&mut self) -> Key {
        Key::of("t", i32::from(self.of(3)))
    }

    /// Small, and now and then at an edge.
    fn number(&mut self) -> i64 {
        match self.next() {
            byte @ 0..=250 => i64::from(byte % 24),
            251 => 1 << 60,
            252 => i64::from(i32::MAX),
            253 => 1 << 20,
            254 => 1 << 40,
            255 => (1 << 60) - 1,
        }
    }

    /// Any value, also one below zero.
    fn value(&mut self) -> i64 {
        match self.once_in(32) {
            true => [i64::MIN, i64::MAX, -1, 1 << 62][usize::from(self.of(4))],
            false => self.number(),
        }
    }

    fn offset(&mut self) -> Option<i64> {
        (!self.once_in(8)).then(|| self.number())
    }

    fn kind(&mut self) -> EventKind {
        match self.of(8) {
            0..=2 => EventKind::Invoke,
            3..=5 => EventKind::Ok,
            6 => EventKind::Fail,
            _ => EventKind::Info,
        }
    }

    fn event(&mut self, time: u64) -> Event {
        let process = Process::Client(u64::from(self.of(4)));
        let kind = self.kind();
        let event = |kind, f, value| Event::new(time, process.clone(), kind, f).with_value(value);
        let mut event = match self.of(16) {
            0..=4 => event(kind, Function::Send, EventValue::Ops(self.some(2, Self::send))),
            5..=8 => event(kind, Function::Poll, EventValue::Ops(self.some(2, Self::poll))),
            9..=10 => event(kind, Function::Txn, EventValue::Ops(self.some(4, Self::any_op))),
            11 => event(kind, Function::Assign, EventValue::Keys(self.some(3, Self::key))),
            12 => event(kind, Function::Subscribe, EventValue::Keys(self.some(3, Self::key))),
            13 => {
                let mut offsets = self.some(3, |bytes| (bytes.key(), bytes.number()));
                by_key(&mut offsets);
                event(kind, Function::Commit, EventValue::Offsets(offsets))
            }
            14 => event(kind, Function::Crash, EventValue::None),
            _ => return self.told(time),
        };
        self.beside(&mut event);
        event
    }

    fn send(&mut self) -> MicroOp {
        let ack = match self.of(4) {
            0 => Ack::None,
            1 => Ack::Unknown,
            _ => Ack::At(self.number()),
        };
        MicroOp::Send { key: self.key(), value: self.value(), ack }
    }

    fn poll(&mut self) -> MicroOp {
        if self.once_in(4) {
            return MicroOp::Poll { records: None };
        }
        let read = |bytes: &mut Self| ReadRecord(bytes.offset(), bytes.value());
        let mut records = self.some(3, |bytes| (bytes.key(), bytes.some(6, read)));
        by_key(&mut records);
        MicroOp::Poll { records: Some(records) }
    }

    fn any_op(&mut self) -> MicroOp {
        if self.once_in(2) { self.send() } else { self.poll() }
    }

    /// What the harness says of clients and keys.
    fn told(&mut self, time: u64) -> Event {
        let event = |f| Event::new(time, Process::Harness, EventKind::Info, f);
        if self.once_in(2) {
            let key = self.key();
            let topic = OpenTopic {
                key,
                topic: "t".to_owned(),
                topic_id: None,
                partition: i32::from(self.of(3)),
                extra: Default::default(),
            };
            return event(Function::OpenTopic).with_value(EventValue::OpenTopic(topic.into()));
        }
        let client = OpenClient {
            client: u64::from(self.of(4)),
            kind: [ClientKind::Producer, ClientKind::Consumer, ClientKind::Both]
                [usize::from(self.of(3))],
            processes: self.some(3, |bytes| u64::from(bytes.of(4))),
            acks: [None, Some(Acks::Zero), Some(Acks::One), Some(Acks::All)]
                [usize::from(self.of(4))],
            idempotence: [None, Some(true), Some(false)][usize::from(self.of(3))],
            retries: [None, Some(true), Some(false)][usize::from(self.of(3))],
            producer_id: self.offset(),
            producer_epoch: None,
            isolation: [None, Some(Isolation::ReadCommitted), Some(Isolation::ReadUncommitted)]
                [usize::from(self.of(3))],
            group: self.once_in(3).then(|| "g".to_owned()),
            role: self.once_in(3).then(|| "final-read".to_owned()),
            extra: Default::default(),
        };
        event(Function::Open).with_value(EventValue::Open(client.into()))
    }

    /// What else an event says.
    fn beside(&mut self, event: &mut Event) {
        let said = self.next();
        if said < 192 {
            return;
        }
        let is = |bit: u8| said & (1 << bit) != 0;
        let error = EventError::code(["TIMEOUT", "NOT_LEADER_OR_FOLLOWER"][usize::from(said & 1)]);
        event.error = is(0).then(|| error.clone());
        if is(1) {
            event.errors = Some(self.some(3, |bytes| bytes.once_in(2).then(|| error.clone())));
        }
        event.node = is(2).then(|| i32::from(self.of(4)));
        event.seek_to_beginning = is(3);
        if is(4) {
            let (producer_id, sequence) = (self.number(), self.number() as i32);
            event.id = Some(BatchId { producer_id, producer_epoch: 0, sequence });
        }
        if is(5) {
            let moved = |bytes: &mut Self| Rebalance {
                keys: bytes.some(2, Self::key),
                extra: Default::default(),
            };
            event.rebalance_log = Some(self.some(2, moved));
            let run = |bytes: &mut Self| EpochRun(bytes.number(), i32::from(bytes.of(4)));
            event.leader_epochs = Some(vec![(self.key(), self.some(2, run))]);
        }
    }
}

/// Each key once.
fn by_key<T>(pairs: &mut Vec<(Key, T)>) {
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs.dedup_by(|(one, _), (other, _)| one == other);
}
