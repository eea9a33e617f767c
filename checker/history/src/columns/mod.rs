//! A stretch of a history as columns: what most events consist of, without an object for each.
//!
//! Sends, polls and transactions of clients stand in columns; what else an event says, or an event
//! of another kind, stands beside them as an [`Event`]. Both together lose nothing:
//! [`Columns::event`] gives back what [`Columns::push`] took.

mod delta;
pub(crate) mod file;
mod runs;
mod stored;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Range};

use crate::{
    event::{Ack, Event, EventKind, EventValue, Function, MicroOp, Process, ReadRecord},
    types::{Key, NodeId, Offset, ProcessId, TimeNs, Value},
};

/// A stretch of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The keys that stand here, in the order in which they came.
    keys: Vec<Key>,
    ids: BTreeMap<Key, KeyAt>,
    heads: Vec<Head>,
    ops: Vec<Op>,
    polled: Vec<Polled>,
    offsets: Vec<Offset>,
    values: Vec<Value>,
    details: Vec<Event>,
}

/// A key's position in [`Columns::keys`].
pub type KeyAt = u32;

/// Stands for no offset; in memory nobody has looked yet whether others are offsets of a log.
const NO_OFFSET: Offset = Offset::MIN;

/// What stands of every event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Line of the event, counted from 1.
    pub line: u64,
    /// Position in the history.
    pub index: u64,
    /// When it happened, nanoseconds since the run's start.
    pub time: TimeNs,
    /// The client's process; 0 where the event is no client's.
    pub process: ProcessId,
    /// The broker that answered.
    pub node: Option<NodeId>,
    /// Invocation or kind of completion.
    pub kind: EventKind,
    /// What stands in columns.
    pub shape: Shape,
    /// Whether an event stands beside the columns.
    detailed: bool,
    ops_end: u32,
    details_end: u32,
}

/// What of an event stands in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing: the event stands beside them as a whole.
    Apart,
    /// A send without its value, which is null.
    BareSend,
    /// A poll without its value.
    BarePoll,
    /// A transaction without its value.
    BareTxn,
    /// The micro-operations of a send.
    Send,
    /// Those of a poll.
    Poll,
    /// Those of a transaction.
    Txn,
}

impl Shape {
    const ALL: [Self; 7] = [
        Self::Apart,
        Self::BareSend,
        Self::BarePoll,
        Self::BareTxn,
        Self::Send,
        Self::Poll,
        Self::Txn,
    ];

    fn of(event: &Event) -> Self {
        if !matches!(event.process, Process::Client(_)) {
            return Self::Apart;
        }
        match (&event.f, &event.value) {
            (Function::Send, EventValue::None) => Self::BareSend,
            (Function::Poll, EventValue::None) => Self::BarePoll,
            (Function::Txn, EventValue::None) => Self::BareTxn,
            (Function::Send, EventValue::Ops(_)) => Self::Send,
            (Function::Poll, EventValue::Ops(_)) => Self::Poll,
            (Function::Txn, EventValue::Ops(_)) => Self::Txn,
            _ => Self::Apart,
        }
    }

    /// What is done; none where columns do not tell.
    pub fn function(self) -> Option<&'static Function> {
        match self {
            Self::Apart => None,
            Self::BareSend | Self::Send => Some(&Function::Send),
            Self::BarePoll | Self::Poll => Some(&Function::Poll),
            Self::BareTxn | Self::Txn => Some(&Function::Txn),
        }
    }

    fn has_ops(self) -> bool {
        matches!(self, Self::Send | Self::Poll | Self::Txn)
    }
}

/// A micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A send.
    Send {
        /// The topic-partition.
        key: KeyAt,
        /// The record.
        value: Value,
        /// What the broker said of its place.
        ack: Ack,
    },
    /// A poll that nobody answered yet.
    Poll,
    /// What a poll returned.
    Polled {
        /// Positions in the list of what polls returned.
        from: u32,
        /// The end of them.
        to: u32,
    },
}

/// What a poll returned of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Polled {
    key: KeyAt,
    reads_end: u32,
}

/// One event of a stretch.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    columns: &'a Columns,
    /// What stands of every event.
    pub head: Head,
    nth: usize,
}

impl<'a> Row<'a> {
    /// Its micro-operations; none where it has no value, or one of another kind.
    pub fn ops(&self) -> Option<&'a [Op]> {
        let range = self.columns.before(self.nth, |head| head.ops_end)..self.head.ops_end as usize;
        self.head.shape.has_ops().then(|| &self.columns.ops[range])
    }

    /// What a poll of it returned: each key with its records.
    pub fn polled(&self, from: u32, to: u32) -> impl Iterator<Item = (KeyAt, Reads<'a>)> + use<'a> {
        let columns = self.columns;
        (from as usize..to as usize).map(move |at| {
            let Polled { key, .. } = columns.polled[at];
            let range = columns.reads(at);
            (
                key,
                Reads { offsets: &columns.offsets[range.clone()], values: &columns.values[range] },
            )
        })
    }

    /// What stands beside the columns: all else that it says; the event as a whole where its shape
    /// is [`Shape::Apart`], else without its value.
    pub fn detail(&self) -> Option<&'a Event> {
        let detail = self.head.details_end.checked_sub(1).filter(|_| self.head.detailed);
        detail.map(|at| &self.columns.details[at as usize])
    }
}

/// Records that a poll returned of one key.
#[derive(Clone, Copy, Debug)]
pub struct Reads<'a> {
    offsets: &'a [Offset],
    values: &'a [Value],
}

impl<'a> Reads<'a> {
    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// Their values.
    pub fn values(self) -> &'a [Value] {
        self.values
    }

    /// How many of them, from the front on, stand at offsets that rise by one.
    pub fn rising(self) -> usize {
        let Some(first) = self.offsets.first().filter(|first| **first != NO_OFFSET) else {
            return 0;
        };
        let rises = |(nth, offset): &(Offset, &Offset)| first.checked_add(*nth) == Some(**offset);
        (0..).zip(self.offsets).take_while(rises).count()
    }

    /// The first so many, or all where there are less.
    #[must_use]
    pub fn first(self, many: usize) -> Self {
        let many = many.min(self.values.len());
        Self { offsets: &self.offsets[..many], values: &self.values[..many] }
    }

    /// All but the first so many.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn after(self, many: usize) -> Self {
        Self { offsets: &self.offsets[many..], values: &self.values[many..] }
    }

    /// Each with its offset.
    pub fn iter(self) -> impl Iterator<Item = (Option<Offset>, Value)> + use<'a> {
        let told = |offset: Offset| (offset != NO_OFFSET).then_some(offset);
        self.offsets.iter().zip(self.values).map(move |(offset, value)| (told(*offset), *value))
    }
}

impl Columns {
    /// Takes everything out; the memory stays for what comes next.
    pub(crate) fn clear(&mut self) {
        let Self { keys, ids, heads, ops, polled, offsets, values, details } = self;
        keys.clear();
        ids.clear();
        heads.clear();
        ops.clear();
        polled.clear();
        offsets.clear();
        values.clear();
        details.clear();
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// How many records polls returned.
    pub fn reads_len(&self) -> usize {
        self.values.len()
    }

    /// How many micro-operations and reads there are.
    fn records(&self) -> usize {
        self.ops.len() + self.values.len()
    }

    /// The keys that stand here, in the order in which they came.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Each event.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.heads.iter().enumerate().map(|(nth, head)| Row { columns: self, head: *head, nth })
    }

    /// Adds an event that stands on a line, counted from 1.
    pub fn push(&mut self, line: u64, mut event: Event) {
        let shape = Shape::of(&event);
        let process = match event.process {
            Process::Client(number) => number,
            _ => 0,
        };
        if let (true, EventValue::Ops(ops)) = (shape.has_ops(), &event.value) {
            for op in ops {
                let op = self.op(op);
                self.ops.push(op);
            }
            event.value = EventValue::None;
        }
        let Event { index, time, node, kind, .. } = event;
        let detailed = shape == Shape::Apart || says_more(&event);
        if detailed {
            self.details.push(event);
        }
        self.heads.push(Head {
            line,
            index,
            time,
            process,
            node,
            kind,
            shape,
            detailed,
            ops_end: self.ops.len() as u32,
            details_end: self.details.len() as u32,
        });
    }

    fn op(&mut self, op: &MicroOp) -> Op {
        match op {
            MicroOp::Send { key, value, ack } => {
                Op::Send { key: self.key(key), value: *value, ack: *ack }
            }
            MicroOp::Poll { records: None } => Op::Poll,
            MicroOp::Poll { records: Some(records) } => {
                let from = self.polled.len() as u32;
                for (key, read) in records {
                    let key = self.key(key);
                    self.offsets.extend(read.iter().map(|read| read.0.unwrap_or(NO_OFFSET)));
                    self.values.extend(read.iter().map(|read| read.1));
                    self.polled.push(Polled { key, reads_end: self.values.len() as u32 });
                }
                Op::Polled { from, to: self.polled.len() as u32 }
            }
        }
    }

    fn key(&mut self, key: &Key) -> KeyAt {
        if let Some(known) = self.ids.get(key) {
            return *known;
        }
        let at = self.keys.len() as KeyAt;
        self.keys.push(key.clone());
        self.ids.insert(key.clone(), at);
        at
    }

    /// An event as it was pushed.
    pub fn event(&self, row: &Row<'_>) -> Event {
        let Head { index, time, process, node, kind, shape, .. } = row.head;
        let mut event = match (row.detail(), shape.function()) {
            (Some(event), _) => event.clone(),
            (None, Some(f)) => {
                Event { node, ..Event::new(time, Process::Client(process), kind, f.clone()) }
            }
            (None, None) => unreachable!("an event that stands apart is there as a whole"),
        };
        event.index = index;
        if let Some(ops) = row.ops() {
            event.value = EventValue::Ops(ops.iter().map(|op| self.micro_op(row, *op)).collect());
        }
        event
    }

    fn micro_op(&self, row: &Row<'_>, op: Op) -> MicroOp {
        match op {
            Op::Send { key, value, ack } => {
                MicroOp::Send { key: self.keys[key as usize].clone(), value, ack }
            }
            Op::Poll => MicroOp::Poll { records: None },
            Op::Polled { from, to } => {
                let records = row.polled(from, to).map(|(key, reads)| {
                    let reads = reads.iter().map(|(offset, value)| ReadRecord(offset, value));
                    (self.keys[key as usize].clone(), reads.collect())
                });
                MicroOp::Poll { records: Some(records.collect()) }
            }
        }
    }

    fn before(&self, nth: usize, end: impl Fn(&Head) -> u32) -> usize {
        nth.checked_sub(1).map_or(0, |before| end(&self.heads[before]) as usize)
    }

    fn reads(&self, at: usize) -> Range<usize> {
        let from = at.checked_sub(1).map_or(0, |before| self.polled[before].reads_end as usize);
        from..self.polled[at].reads_end as usize
    }
}

/// Whether an event without its value says more than a head does.
fn says_more(event: &Event) -> bool {
    let Event {
        index: _,
        time: _,
        process: _,
        kind: _,
        f: _,
        value: _,
        node: _,
        error,
        errors,
        attempts,
        id,
        leader_epochs,
        payload_errors,
        rebalance_log,
        seek_to_beginning,
        intended,
        extra,
    } = event;
    error.is_some()
        || errors.is_some()
        || attempts.is_some()
        || id.is_some()
        || leader_epochs.is_some()
        || payload_errors.is_some()
        || rebalance_log.is_some()
        || *seek_to_beginning
        || intended.is_some()
        || !extra.is_empty()
}
