//! Columns as bytes: differences in as few bytes as they need, packed.

use serde::{Deserialize, Serialize};

use super::{
    Columns, Head, KeyAt, NO_OFFSET, Op, Polled, Shape,
    delta::Delta,
    runs::{Bytes, Runs, RunsAt},
};
use crate::{
    event::{Ack, Event, EventKind, Process},
    types::{Key, NodeId, Offset, check_offset},
};

/// The columns of one block; every number that rises steadily is a difference.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    keys: Vec<Key>,
    lines: Runs,
    indexes: Runs,
    times: Vec<i64>,
    processes: Vec<u64>,
    /// The brokers that answered, of events that name one.
    nodes: Runs,
    /// Kind, shape, whether it has one micro-operation, whether it names a broker, and whether an
    /// event stands beside the columns.
    heads: Bytes,
    /// How many micro-operations each event has that has a list of them, unless it is one.
    op_counts: Vec<u32>,
    /// What each micro-operation is.
    ops: Bytes,
    send_keys: Vec<KeyAt>,
    send_values: Vec<i64>,
    /// Above the last acknowledged offset of the key.
    acks: Vec<i64>,
    /// How many keys each answered poll returned.
    polled_counts: Vec<u32>,
    polled_keys: Vec<KeyAt>,
    /// How many stretches of offsets that rise by one each has.
    stretch_counts: Vec<u32>,
    stretch_lengths: Vec<u32>,
    /// The first offset of each, above the last one that was read of the key.
    stretch_offsets: Vec<i64>,
    /// Above the last value that was read of the key.
    read_values: Vec<i64>,
    /// Events beside the columns, as JSON.
    details: Vec<String>,
}

/// What a micro-operation is.
mod op {
    pub(super) const SEND: u8 = 0;
    pub(super) const SEND_UNKNOWN: u8 = 1;
    pub(super) const SEND_AT: u8 = 2;
    pub(super) const POLL: u8 = 3;
    pub(super) const POLLED: u8 = 4;
}

const KINDS: [EventKind; 4] = [EventKind::Invoke, EventKind::Ok, EventKind::Fail, EventKind::Info];
const ONE_OP: u8 = 1 << 5;
const HAS_NODE: u8 = 1 << 6;
const DETAILED: u8 = 1 << 7;

/// What was last said of each key.
#[derive(Clone, Default)]
struct LastOf {
    ack: Delta,
    offset: Delta,
    value: Delta,
    /// The last poll that returned some of it.
    polled_by: usize,
}

impl Stored {
    /// The columns of a block.
    pub(super) fn of(columns: &Columns) -> Self {
        let mut stored = Self { keys: columns.keys.clone(), ..Self::default() };
        let (mut line, mut index, mut time) = Default::default();
        let mut last = (vec![LastOf::default(); columns.keys.len()], Delta::default());
        for row in columns.rows() {
            let Head { shape, kind, node, detailed, .. } = row.head;
            let delta = |last: &mut Delta, number: u64| last.of(number as i64);
            stored.lines.push(delta(&mut line, row.head.line));
            stored.indexes.push(delta(&mut index, row.head.index));
            stored.times.push(delta(&mut time, row.head.time));
            stored.processes.push(row.head.process);
            if let Some(node) = node {
                stored.nodes.push(node.into());
            }
            let kind = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
            let shape = Shape::ALL.iter().position(|known| *known == shape).unwrap_or_default();
            let ops = row.ops();
            let bits = [
                (ops.is_some_and(|ops| ops.len() == 1), ONE_OP),
                (node.is_some(), HAS_NODE),
                (detailed, DETAILED),
            ];
            let set = bits.into_iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit);
            stored.heads.0.push(set.fold(kind as u8 | (shape as u8) << 2, |head, bit| head | bit));
            let Some(ops) = ops else { continue };
            if ops.len() != 1 {
                stored.op_counts.push(ops.len() as u32);
            }
            for op in ops {
                stored.push_op(columns, *op, &mut last);
            }
        }
        let json = |event| serde_json::to_string(event).expect("an event is JSON");
        stored.details = columns.details.iter().map(json).collect();
        stored
    }

    fn push_op(&mut self, columns: &Columns, op: Op, last: &mut (Vec<LastOf>, Delta)) {
        match op {
            Op::Send { key, value, ack } => {
                self.send_keys.push(key);
                self.send_values.push(last.1.of(value));
                self.ops.0.push(match ack {
                    Ack::None => op::SEND,
                    Ack::Unknown => op::SEND_UNKNOWN,
                    Ack::At(offset) => {
                        self.acks.push(last.0[key as usize].ack.of(offset));
                        op::SEND_AT
                    }
                });
            }
            Op::Poll => self.ops.0.push(op::POLL),
            Op::Polled { from, to } => {
                self.ops.0.push(op::POLLED);
                self.polled_counts.push(to - from);
                for at in from as usize..to as usize {
                    let key = columns.polled[at].key;
                    self.polled_keys.push(key);
                    let range = columns.reads(at);
                    let (offsets, values) =
                        (&columns.offsets[range.clone()], &columns.values[range]);
                    let last = &mut last.0[key as usize];
                    self.push_offsets(offsets, &mut last.offset);
                    self.read_values.extend(values.iter().map(|value| last.value.of(*value)));
                }
            }
        }
    }

    fn push_offsets(&mut self, offsets: &[Offset], last: &mut Delta) {
        let goes_on = |before: &Offset, next: &Offset| follows(*before) == *next;
        let before = self.stretch_lengths.len();
        for stretch in offsets.chunk_by(goes_on) {
            self.stretch_lengths.push(stretch.len() as u32);
            self.stretch_offsets.push(last.of(stretch[0]));
            last.of(stretch[stretch.len() - 1]);
        }
        self.stretch_counts.push((self.stretch_lengths.len() - before) as u32);
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.heads.0.len()
    }

    /// The columns again, in columns that are empty.
    ///
    /// # Errors
    /// What does not fit together.
    pub(super) fn fill(self, columns: &mut Columns) -> Result<(), String> {
        Unpacking::of(self, columns).fill()
    }
}

/// What follows on an offset: the next one, or none on none.
fn follows(offset: Offset) -> Offset {
    if offset == NO_OFFSET { NO_OFFSET } else { offset.saturating_add(1) }
}

/// Takes columns apart from front to back.
struct Unpacking<'c> {
    stored: Stored,
    columns: &'c mut Columns,
    last: Vec<LastOf>,
    last_sent: Delta,
    at: At,
}

/// How far each column was taken.
#[derive(Default)]
struct At {
    op_counts: usize,
    ops: usize,
    sends: usize,
    acks: usize,
    polls: usize,
    polled: usize,
    stretches: usize,
    values: usize,
}

/// The next element of a column.
fn next<T: Copy>(column: &[T], at: &mut usize, what: &str) -> Result<T, String> {
    let element = column.get(*at).copied().ok_or_else(|| format!("its {what} end too early"))?;
    *at += 1;
    Ok(element)
}

impl<'c> Unpacking<'c> {
    fn of(mut stored: Stored, columns: &'c mut Columns) -> Self {
        columns.keys = std::mem::take(&mut stored.keys);
        columns.ids = columns.keys.iter().cloned().zip(0..).collect();
        let last = vec![LastOf::default(); columns.keys.len()];
        Self { stored, columns, last, last_sent: Delta::default(), at: At::default() }
    }

    fn fill(mut self) -> Result<(), String> {
        if self.columns.ids.len() != self.columns.keys.len() {
            return Err("it names a key twice".to_owned());
        }
        self.take_details()?;
        let (mut line, mut index, mut time) = <(Delta, Delta, Delta)>::default();
        let mut lines = RunsAt::from(std::mem::take(&mut self.stored.lines));
        let mut indexes = RunsAt::from(std::mem::take(&mut self.stored.indexes));
        let mut nodes = RunsAt::from(std::mem::take(&mut self.stored.nodes));
        let mut details = 0;
        for (nth, head) in std::mem::take(&mut self.stored.heads.0).into_iter().enumerate() {
            let line = line.add(lines.next("lines")?) as u64;
            let index = index.add(indexes.next("indexes")?) as u64;
            let time = time.add(next(&self.stored.times, &mut nth.clone(), "times")?) as u64;
            let process = next(&self.stored.processes, &mut nth.clone(), "processes")?;
            let node = match head & HAS_NODE {
                0 => None,
                _ => Some(node_of(nodes.next("nodes")?)?),
            };
            let (kind, shape, detailed) = head_of(head)?;
            if shape.has_ops() {
                self.take_ops(head & ONE_OP != 0)?;
            }
            let head = Head {
                line,
                index,
                time,
                process,
                node,
                kind,
                shape,
                detailed,
                ops_end: self.columns.ops.len() as u32,
                details_end: details + u32::from(detailed),
            };
            let detail = self.columns.details.get(details as usize).filter(|_| detailed);
            if detail.is_some_and(|event| !fits(event, &head)) {
                return Err("an event beside its columns is another than theirs".to_owned());
            }
            details = head.details_end;
            self.columns.heads.push(head);
        }
        if details as usize != self.columns.details.len() {
            return Err("it has another number of events beside its columns".to_owned());
        }
        Ok(())
    }

    fn take_details(&mut self) -> Result<(), String> {
        for text in std::mem::take(&mut self.stored.details) {
            let event: Event = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            self.columns.details.push(event);
        }
        Ok(())
    }

    fn take_ops(&mut self, is_one: bool) -> Result<(), String> {
        let count = match is_one {
            true => 1,
            false => next(&self.stored.op_counts, &mut self.at.op_counts, "operations")?,
        };
        for _ in 0..count {
            let op = self.take_op()?;
            self.columns.ops.push(op);
        }
        Ok(())
    }

    fn take_op(&mut self) -> Result<Op, String> {
        let Self { stored, at, .. } = self;
        match next(&stored.ops.0, &mut at.ops, "micro-operations")? {
            op::POLL => Ok(Op::Poll),
            op::POLLED => self.take_polled(),
            kind @ (op::SEND | op::SEND_UNKNOWN | op::SEND_AT) => {
                let key = next(&stored.send_keys, &mut at.sends.clone(), "keys")?;
                let value = next(&stored.send_values, &mut at.sends, "values")?;
                let value = self.last_sent.add(value);
                let last = self.last.get_mut(key as usize).ok_or("it names a key that it lacks")?;
                let ack = match kind {
                    op::SEND => Ack::None,
                    op::SEND_UNKNOWN => Ack::Unknown,
                    _ => {
                        let above = next(&stored.acks, &mut at.acks, "offsets")?;
                        Ack::At(check_offset(last.ack.add(above))?)
                    }
                };
                Ok(Op::Send { key, value, ack })
            }
            other => Err(format!("{other} is no kind of micro-operation")),
        }
    }

    fn take_polled(&mut self) -> Result<Op, String> {
        let count = next(&self.stored.polled_counts, &mut self.at.polls, "polls")?;
        let from = self.columns.polled.len() as u32;
        for _ in 0..count {
            let key = next(&self.stored.polled_keys, &mut self.at.polled.clone(), "keys")?;
            let stretches = next(&self.stored.stretch_counts, &mut self.at.polled, "polls")?;
            let Some(last) = self.last.get_mut(key as usize) else {
                return Err("it names a key that it lacks".to_owned());
            };
            // Polls are counted from 1, which the last one is.
            if std::mem::replace(&mut last.polled_by, self.at.polls) == self.at.polls {
                return Err("a poll of it names a key twice".to_owned());
            }
            for _ in 0..stretches {
                self.take_stretch(key)?;
            }
            let reads_end = self.columns.values.len() as u32;
            self.columns.polled.push(Polled { key, reads_end });
        }
        Ok(Op::Polled { from, to: self.columns.polled.len() as u32 })
    }

    fn take_stretch(&mut self, key: KeyAt) -> Result<(), String> {
        let Self { stored, columns, at, last, .. } = self;
        let last = &mut last[key as usize];
        let length = next(&stored.stretch_lengths, &mut at.stretches.clone(), "offsets")? as usize;
        let first = next(&stored.stretch_offsets, &mut at.stretches, "offsets")?;
        let values = at
            .values
            .checked_add(length)
            .and_then(|end| stored.read_values.get(std::mem::replace(&mut at.values, end)..end));
        let values = values.ok_or("its values end too early")?;
        let first = last.offset.add(first);
        if first != NO_OFFSET {
            check_offset(first.saturating_add(length.saturating_sub(1) as i64))?;
            check_offset(first)?;
        }
        let mut offset = first;
        for above in values {
            columns.offsets.push(offset);
            columns.values.push(last.value.add(*above));
            last.offset = Delta::at(offset);
            offset = follows(offset);
        }
        Ok(())
    }
}

/// Whether an event that stands beside the columns is the one that they tell of.
fn fits(event: &Event, head: &Head) -> bool {
    let process = match event.process {
        Process::Client(number) => number,
        _ => 0,
    };
    let shape = match (Shape::of(event), head.shape.has_ops()) {
        // Its value stands in the columns.
        (Shape::BareSend, true) => Shape::Send,
        (Shape::BarePoll, true) => Shape::Poll,
        (Shape::BareTxn, true) => Shape::Txn,
        (_, true) => return false,
        (shape, false) => shape,
    };
    (event.index, event.time, process, event.node, event.kind, shape)
        == (head.index, head.time, head.process, head.node, head.kind, head.shape)
}

fn node_of(stored: i64) -> Result<NodeId, String> {
    NodeId::try_from(stored).map_err(|_| format!("{stored} is no node"))
}

fn head_of(stored: u8) -> Result<(EventKind, Shape, bool), String> {
    let detailed = stored & DETAILED != 0;
    let shape = usize::from(stored >> 2 & 7);
    let shape = Shape::ALL.get(shape).ok_or_else(|| format!("{stored} is no kind of event"))?;
    if *shape == Shape::Apart && !detailed {
        return Err("it lacks an event that stands beside its columns".to_owned());
    }
    Ok((KINDS[usize::from(stored & 3)], *shape, detailed))
}
