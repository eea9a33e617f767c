//! Joins what producers and consumers tell: which send a record that was read came from, and which
//! records somebody was in a place to read.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::{
    consumer::{Consumer, Read, What},
    events::{Placed, Told},
    producer::{Ended, Producer, Sent},
    text::{Numbering, Prefix, Text},
};
use crate::{
    format::FormatError,
    types::{Key, Offset, Value},
};

/// How many keys a note names.
const NAMED_KEYS: usize = 5;

/// What the logs tell, joined.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub producers: Vec<Producer>,
    pub consumers: Vec<Consumer>,
    pub notes: Vec<String>,
}

/// Records that were read and are no producer's.
#[derive(Default)]
struct Strangers {
    count: u64,
    /// Where the first of them stands.
    first: Option<String>,
}

/// A topic and a text identify a send.
type Name = (SmolStr, Text);

impl Joined {
    /// Everything that can be told, as a history.
    pub(super) fn join(mut self) -> Result<Told, FormatError> {
        let sends = self.sends()?;
        let numbering = self.numbering();
        self.notes.extend(numbering.note());
        let (placed, strangers) = self.place(&sends, &numbering);
        self.note_strangers(&strangers);
        self.note_untold();
        let unread = self.leave_open_what_nobody_could_read();
        self.note_unplaced(&placed);
        Ok(Told::of(self, numbering, placed, unread > 0))
    }

    /// Every send: the numbers of its producer and of its own.
    fn sends(&self) -> Result<BTreeMap<Name, (usize, usize)>, FormatError> {
        let mut sends = BTreeMap::new();
        for (nth, producer) in self.producers.iter().enumerate() {
            for (at, sent) in producer.sends.iter().enumerate() {
                let name = (sent.topic.clone(), sent.text);
                if let Some((other, first)) = sends.insert(name, (nth, at)) {
                    let other: &Producer = &self.producers[other];
                    return Err(twice(producer, sent, (other, &other.sends[first])));
                }
            }
        }
        Ok(sends)
    }

    fn numbering(&self) -> Numbering {
        let sends = self.producers.iter().flat_map(|producer| &producer.sends);
        Numbering::of(sends.map(|sent| sent.text.prefix).collect())
    }

    /// Where sends stand that were not acknowledged and were read all the same, and sends of which
    /// the producer's log says nothing since it ends too early. Records that are no producer's are
    /// taken from the polls.
    fn place(
        &mut self,
        sends: &BTreeMap<Name, (usize, usize)>,
        numbering: &Numbering,
    ) -> (Placed, Strangers) {
        let unfinished = self.unfinished();
        let mut placed = Placed::new();
        let mut strangers = Strangers::default();
        let producers = &self.producers;
        for consumer in &mut self.consumers {
            let file = consumer.file.display();
            for did in &mut consumer.did {
                let What::Poll(reads) = &mut did.what else { continue };
                reads.retain(|read| {
                    let text = text_of(read).filter(|text| numbering.value(*text).is_some());
                    let Some(text) = text else {
                        strangers.count += 1;
                        strangers
                            .first
                            .get_or_insert_with(|| format!("{file}: line {}", read.line));
                        return false;
                    };
                    let name = (read.topic.clone(), text);
                    let is_acknowledged = sends.get(&name).map(|(nth, at)| {
                        matches!(producers[*nth].sends[*at].ended, Ended::Acknowledged(..))
                    });
                    let may_be_sent = unfinished.contains_key(&text.prefix);
                    if is_acknowledged == Some(false) || is_acknowledged.is_none() && may_be_sent {
                        placed.entry(name).or_insert_with(|| read.key.clone());
                    }
                    true
                });
            }
        }
        self.add_untold(&placed, sends, &unfinished);
        (placed, strangers)
    }

    /// Producers whose logs may lack sends, by prefix.
    fn unfinished(&self) -> BTreeMap<Prefix, usize> {
        let mut unfinished = BTreeMap::new();
        for (nth, producer) in self.producers.iter().enumerate().filter(|(_, p)| !p.is_whole) {
            for sent in &producer.sends {
                unfinished.entry(sent.text.prefix).or_insert(nth);
            }
        }
        unfinished
    }

    fn add_untold(
        &mut self,
        placed: &Placed,
        sends: &BTreeMap<Name, (usize, usize)>,
        unfinished: &BTreeMap<Prefix, usize>,
    ) {
        let mut untold = 0;
        for (topic, text) in placed.keys().filter(|name| !sends.contains_key(*name)) {
            let producer = &mut self.producers[unfinished[&text.prefix]];
            let at = producer.sends.last().map_or(producer.started, |last| last.at);
            let (topic, ended) = (topic.clone(), Ended::Untold);
            producer.sends.push(Sent { line: 0, at, text: *text, topic, record_key: None, ended });
            untold += 1;
        }
        if untold > 0 {
            self.notes.push(format!(
                "{untold} records were read that a producer had sent whose log ends before it \
                 tells of them: their sends ended unknown"
            ));
        }
    }

    fn note_strangers(&mut self, Strangers { count, first }: &Strangers) {
        if let Some(first) = first {
            let records = if *count == 1 { "record was" } else { "records were" };
            self.notes.push(format!(
                "{count} {records} read that no producer of these logs sends, the first at \
                 {first}: not judged; is a log missing, or was the topic not empty?"
            ));
        }
    }

    fn note_untold(&mut self) {
        for Consumer { file, untold, .. } in &self.consumers {
            if *untold > 0 {
                self.notes.push(format!(
                    "{}: it tells how many records it was given ({untold}) and not which: run \
                     VerifiableConsumer with --verbose; what it read is not judged",
                    file.display()
                ));
            }
        }
    }

    /// An acknowledged record that stands where no consumer was in a place to read it may be lost
    /// or not. Its acknowledgement stands without its offset then. Gives the number of these.
    fn leave_open_what_nobody_could_read(&mut self) -> u64 {
        let spans = spans(&self.consumers);
        let mut open: BTreeMap<Key, u64> = BTreeMap::new();
        let sends = self.producers.iter_mut().flat_map(|producer| &mut producer.sends);
        for sent in sends {
            if let Ended::Acknowledged(key, offset) = &mut sent.ended
                && offset.is_some_and(|offset| !is_within(&spans, key, offset))
            {
                *offset = None;
                *open.entry(key.clone()).or_default() += 1;
            }
        }
        let total = open.values().sum();
        if total > 0 {
            let named =
                open.iter().take(NAMED_KEYS).map(|(key, count)| format!("{count} of {key}"));
            let mut named: Vec<String> = named.collect();
            if open.len() > NAMED_KEYS {
                named.push(format!("and {} more partitions", open.len() - NAMED_KEYS));
            }
            self.notes.push(format!(
                "{total} acknowledged records stand where no consumer was in a place to read them \
                 ({}): whether they are there is not decided, and unread ones leave the verdict \
                 unknown",
                named.join(", ")
            ));
        }
        total
    }

    fn note_unplaced(&mut self, placed: &Placed) {
        let is_unplaced = |sent: &&Sent| {
            matches!(sent.ended, Ended::Error(_))
                && !placed.contains_key(&(sent.topic.clone(), sent.text))
        };
        let sends = self.producers.iter().flat_map(|producer| &producer.sends);
        let unplaced = sends.filter(is_unplaced).count();
        if unplaced > 0 {
            self.notes.push(format!(
                "{unplaced} sends ended with an error that names no partition, and nobody read \
                 their records: they are left out"
            ));
        }
    }
}

fn twice(producer: &Producer, sent: &Sent, (other, first): (&Producer, &Sent)) -> FormatError {
    let why = format!(
        "field `value`: {} is sent to {} a second time, after line {} of {}; give every producer \
         and every start a --value-prefix of its own",
        sent.text,
        sent.topic,
        first.line,
        other.file.display()
    );
    FormatError::line(&producer.file, sent.line, &why)
}

fn text_of(read: &Read) -> Option<Text> {
    read.value.as_deref().and_then(Text::of)
}

/// The value that a record that was read stands for.
pub(super) fn value_of(read: &Read, numbering: &Numbering) -> Value {
    let value = text_of(read).and_then(|text| numbering.value(text));
    value.expect("records without one were taken out")
}

/// Offsets that consumers read from and to, by key, in order and apart from each other.
fn spans(consumers: &[Consumer]) -> BTreeMap<Key, Vec<(Offset, Offset)>> {
    let mut spans: BTreeMap<Key, BTreeSet<(Offset, Offset)>> = BTreeMap::new();
    for (key, from, to) in consumers.iter().flat_map(|consumer| &consumer.spans) {
        spans.entry(key.clone()).or_default().insert((*from, *to));
    }
    let apart = |of_key: BTreeSet<(Offset, Offset)>| {
        let mut apart: Vec<(Offset, Offset)> = Vec::new();
        for (from, to) in of_key {
            match apart.last_mut() {
                Some((_, end)) if from <= *end + 1 => *end = to.max(*end),
                _ => apart.push((from, to)),
            }
        }
        apart
    };
    spans.into_iter().map(|(key, of_key)| (key, apart(of_key))).collect()
}

fn is_within(spans: &BTreeMap<Key, Vec<(Offset, Offset)>>, key: &Key, offset: Offset) -> bool {
    let Some(of_key) = spans.get(key) else { return false };
    let next = of_key.partition_point(|(from, _)| *from <= offset);
    next.checked_sub(1).is_some_and(|at| offset <= of_key[at].1)
}
