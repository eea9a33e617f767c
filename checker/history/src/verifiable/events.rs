//! What the logs tell as the events of one history.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;

use super::{
    consumer::{Read, What},
    join::{Joined, value_of},
    producer::{Ended, Sent},
    text::{Numbering, Text},
};
use crate::{
    event::{
        Ack, Acks, ClientKind, Event, EventError, EventKind, EventValue, Function, MicroOp, NOTE,
        OpenClient, OpenTopic, Process, ReadRecord,
    },
    types::{Key, ProcessId, TimeNs},
};

const NS_PER_MS: u64 = 1_000_000;
/// The field of a client that names its log.
const LOG: &str = "log";

/// A topic and a text identify a send; its key is known where somebody read it.
pub(super) type Placed = BTreeMap<(SmolStr, Text), Key>;

/// What logs tell: notes and events.
pub(crate) struct Told {
    joined: Joined,
    numbering: Numbering,
    placed: Placed,
    /// The first process of each producer; every send has one of its own, for nobody tells which
    /// was in flight with which.
    first_process: Vec<ProcessId>,
    /// Milliseconds since 1970 at time 0.
    zero: u64,
    /// Whether what is missing may be the read of something acknowledged.
    pub is_cut: bool,
}

/// Where an event comes from: a consumer and what it did, or a producer and its send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Consumer(usize, usize),
    Producer(usize, usize),
}

/// An event by its time, its log, and its place among those of its log.
type Moment = (u64, usize, usize, Source);

impl Told {
    pub(super) fn of(joined: Joined, numbering: Numbering, placed: Placed, is_cut: bool) -> Self {
        let started = joined.producers.iter().map(|producer| producer.started);
        let first = joined.consumers.iter().filter_map(|consumer| consumer.did.first());
        let zero = started.chain(first.map(|did| did.began)).min().unwrap_or_default();
        let mut next = joined.consumers.len() as ProcessId;
        let mut first_process = Vec::new();
        for producer in &joined.producers {
            first_process.push(next);
            next += producer.sends.len() as ProcessId;
        }
        Self { joined, numbering, placed, first_process, zero, is_cut }
    }

    /// What is to be known beside the verdict.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let clocks = format!(
            "from logs of VerifiableProducer and VerifiableConsumer; time 0 is {} ms since 1970, \
             each log by its own clock; a send began at some time after its producer's start",
            self.zero
        );
        std::iter::once(clocks).chain(self.joined.notes.iter().cloned())
    }

    /// The events, in order: notes, clients and keys, then what the clients did.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let mut timeline = self.timeline();
        timeline.sort_unstable();
        let did = timeline.into_iter().map(|(at, _, nth, source)| self.event(at, nth, source));
        let numbered = self.heads().into_iter().chain(did).zip(0..);
        numbered.map(|(event, index)| Event { index, ..event })
    }

    fn heads(&self) -> Vec<Event> {
        let head = |f: &str, value| {
            Event::new(0, Process::Harness, EventKind::Info, Function::from(f)).with_value(value)
        };
        let notes = self.notes().map(|note| head(NOTE, EventValue::Other(Json::String(note))));
        let clients = self.clients().into_iter();
        let clients = clients.map(|client| head("open", EventValue::Open(Box::new(client))));
        let keys = self.keys().into_iter().map(|(key, (topic, partition))| {
            let open = OpenTopic { key, topic, topic_id: None, partition, extra: Map::new() };
            head("open-topic", EventValue::OpenTopic(Box::new(open)))
        });
        notes.chain(clients).chain(keys).collect()
    }

    fn clients(&self) -> Vec<OpenClient> {
        let consumers = self.joined.consumers.iter().enumerate().map(|(nth, consumer)| {
            (ClientKind::Consumer, &consumer.file, vec![nth as ProcessId], None)
        });
        let producers = self.joined.producers.iter().zip(&self.first_process);
        let producers = producers.map(|(producer, first)| {
            let acks = producer.tells_no_offsets.then_some(Acks::Zero);
            let sends = *first..first + producer.sends.len() as ProcessId;
            // There may be millions: they are named only where there is something to know of them.
            let sends = sends.filter(|_| acks.is_some()).collect();
            (ClientKind::Producer, &producer.file, sends, acks)
        });
        let clients = consumers.chain(producers).zip(0..);
        clients
            .map(|((kind, file, processes, acks), client)| OpenClient {
                client,
                kind,
                processes,
                acks,
                idempotence: None,
                retries: None,
                producer_id: None,
                producer_epoch: None,
                isolation: None,
                group: None,
                role: None,
                extra: Map::from_iter([(LOG.to_owned(), file.display().to_string().into())]),
            })
            .collect()
    }

    /// Every key that the history names, as topic and partition.
    fn keys(&self) -> BTreeMap<Key, (String, i32)> {
        let sends = self.joined.producers.iter().flat_map(|producer| &producer.sends);
        let sent = sends.filter_map(|sent| Some((self.key(sent)?, &sent.topic)));
        let did = self.joined.consumers.iter().flat_map(|consumer| &consumer.did);
        let read = did.flat_map(|did| match &did.what {
            What::Poll(reads) => reads.as_slice(),
            What::Assign(_) | What::Commit(..) => &[],
        });
        let named = sent.chain(read.map(|read| (&read.key, &read.topic)));
        let mut keys = BTreeMap::new();
        for (key, topic) in named {
            if !keys.contains_key(key) {
                let partition = key.as_str()[topic.len() + 1..].parse().unwrap_or_default();
                keys.insert(key.clone(), (topic.to_string(), partition));
            }
        }
        keys
    }

    /// Where a send stands, if anybody tells.
    fn key<'a>(&'a self, sent: &'a Sent) -> Option<&'a Key> {
        match &sent.ended {
            Ended::Acknowledged(key, _) => Some(key),
            Ended::Error(_) | Ended::Untold => self.placed.get(&(sent.topic.clone(), sent.text)),
        }
    }

    /// Every event with its time, not in order yet. The first half of a producer's are the
    /// invocations; of a consumer, whose operations follow each other, every other one.
    fn timeline(&self) -> Vec<Moment> {
        let Joined { producers, consumers, .. } = &self.joined;
        let mut timeline = Vec::new();
        for (log, consumer) in consumers.iter().enumerate() {
            for (nth, did) in consumer.did.iter().enumerate() {
                let source = Source::Consumer(log, nth);
                timeline.push((did.began, log, 2 * nth, source));
                timeline.push((did.ended, log, 2 * nth + 1, source));
            }
        }
        for (nth, producer) in producers.iter().enumerate() {
            let log = consumers.len() + nth;
            for (at, sent) in producer.sends.iter().enumerate() {
                if self.key(sent).is_some() {
                    let source = Source::Producer(nth, at);
                    timeline.push((producer.started, log, at, source));
                    timeline.push((sent.at, log, producer.sends.len() + at, source));
                }
            }
        }
        timeline
    }

    fn event(&self, at: u64, nth: usize, source: Source) -> Event {
        let time = at.saturating_sub(self.zero).saturating_mul(NS_PER_MS);
        match source {
            Source::Consumer(log, did) => {
                let process = Process::Client(log as ProcessId);
                self.did(time, process, &self.joined.consumers[log].did[did].what, nth % 2 == 1)
            }
            Source::Producer(log, at) => {
                let producer = &self.joined.producers[log];
                let process = Process::Client(self.first_process[log] + at as ProcessId);
                self.sent(time, process, &producer.sends[at], nth >= producer.sends.len())
            }
        }
    }

    fn did(&self, time: TimeNs, process: Process, what: &What, is_over: bool) -> Event {
        let (f, value) = match what {
            What::Assign(keys) => (Function::Assign, EventValue::Keys(keys.clone())),
            What::Commit(offsets, _) => (Function::Commit, EventValue::Offsets(offsets.clone())),
            What::Poll(reads) => {
                let records = is_over.then(|| self.records(reads));
                (Function::Poll, EventValue::Ops(vec![MicroOp::Poll { records }]))
            }
        };
        let (kind, error) = match (is_over, what) {
            (false, _) => (EventKind::Invoke, None),
            (true, What::Commit(_, Some(said))) => {
                (EventKind::Info, Some(error("COMMIT_FAILED", Some(said.as_str()))))
            }
            (true, _) => (EventKind::Ok, None),
        };
        Event { error, ..Event::new(time, process, kind, f).with_value(value) }
    }

    fn records(&self, reads: &[Read]) -> Vec<(Key, Vec<ReadRecord>)> {
        let mut keys: BTreeMap<Key, Vec<ReadRecord>> = BTreeMap::new();
        for read in reads {
            let record = ReadRecord(Some(read.offset), value_of(read, &self.numbering));
            keys.entry(read.key.clone()).or_default().push(record);
        }
        keys.into_iter().collect()
    }

    fn sent(&self, time: TimeNs, process: Process, sent: &Sent, is_over: bool) -> Event {
        let key = self.key(sent).expect("only sends whose key is known are told").clone();
        let value = self.numbering.value(sent.text).expect("every send's prefix is numbered");
        let (kind, ack, error) = match &sent.ended {
            _ if !is_over => (EventKind::Invoke, Ack::None, None),
            Ended::Acknowledged(_, offset) => {
                (EventKind::Ok, offset.map_or(Ack::Unknown, Ack::At), None)
            }
            Ended::Error(why) => {
                let kind = if why.is_definite { EventKind::Fail } else { EventKind::Info };
                (kind, Ack::None, Some(error(&why.code, why.message.as_deref())))
            }
            Ended::Untold => (EventKind::Info, Ack::None, Some(error("NOT_LOGGED", None))),
        };
        let value = EventValue::Ops(vec![MicroOp::Send { key, value, ack }]);
        let event = Event::new(time, process, kind, Function::Send).with_value(value);
        let mut event = Event { error, ..event };
        if !is_over {
            let record_key = sent.record_key.as_ref().map(|key| vec![key.as_str()]);
            event.extra.extend(record_key.map(|keys| ("record_keys".to_owned(), keys.into())));
            if sent.text.prefix.is_some() {
                event.extra.insert("text".to_owned(), sent.text.to_string().into());
            }
        }
        event
    }
}

fn error(code: &str, said: Option<&str>) -> EventError {
    let mut error = EventError::code(code);
    error.extra.extend(said.map(|said| ("message".to_owned(), said.into())));
    error
}
