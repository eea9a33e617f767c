//! Which operation precedes which: by what it read, by the order of the log, by process, by time.

use highwater_history::TimeNs;

use crate::index::{
    Index, KeyId,
    operations::{OpId, Operation, Outcome},
    records::RecordId,
};

/// Why one operation precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The other read what it sent, and was promised to be given only what is committed.
    Read(KeyId, RecordId),
    /// The other read what it sent, and was not promised that.
    DirtyRead(KeyId, RecordId),
    /// The log has what it sent before what the other sent, with nothing known between.
    Log(KeyId, RecordId, RecordId),
    /// The same process went on to the other.
    Process,
    /// It ended before the other began.
    Time,
}

/// A set of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// wr: what was read.
    pub const READS: Self = Self(1);
    /// wr: what was read by who was not promised isolation.
    pub const DIRTY: Self = Self(2);
    /// ww: the order of the log.
    pub const LOG: Self = Self(4);
    /// The order of each process.
    pub const PROCESS: Self = Self(8);
    /// The order of time.
    pub const TIME: Self = Self(16);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a reason is in the set.
    pub fn has(self, why: Why) -> bool {
        let kind = match why {
            Why::Read(..) => Self::READS,
            Why::DirtyRead(..) => Self::DIRTY,
            Why::Log(..) => Self::LOG,
            Why::Process => Self::PROCESS,
            Why::Time => Self::TIME,
        };
        self.0 & kind.0 != 0
    }

    /// Whether every reason of another set is in this one.
    pub fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An operation, or an instant between operations.
pub type Node = u32;

/// One precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Which.
    pub from: Node,
    /// The other.
    pub to: Node,
    /// Why.
    pub why: Why,
}

/// Everything that precedes something. Nodes below `operations` are operations.
#[derive(Debug)]
pub struct Links {
    /// Sorted, each once.
    pub all: Vec<Link>,
    /// How many operations there are.
    pub operations: Node,
}

impl Links {
    /// Of all operations that may have taken effect; `is_isolated` tells whether an operation that
    /// reads a key was promised to be given only what is committed. Offsets with several records
    /// order nothing: they are another anomaly.
    pub fn of(index: &Index, is_isolated: impl Fn(KeyId, OpId) -> bool) -> Self {
        let mut all = Vec::new();
        for (key, id) in index.keys.iter().zip(0..) {
            let mut add = |from: Option<OpId>, to: Option<OpId>, why| {
                let (Some(from), Some(to)) = (from, to) else { return };
                if from != to && [from, to].iter().all(|op| took_effect(index.ops.get(*op))) {
                    all.push(Link { from, to, why });
                }
            };
            for run in key.reads.runs() {
                let why = if is_isolated(id, run.op) { Why::Read } else { Why::DirtyRead };
                for (_, record) in key.reads.of(run) {
                    add(key.records.sender(record), Some(run.op), why(id, record));
                }
            }
            let mut before = None;
            for (_, holders) in key.order.iter() {
                let [record] = holders else { continue };
                let sender = key.records.sender(*record);
                if let Some((from, first)) = before.replace((sender, *record)) {
                    add(from, sender, Why::Log(id, first, *record));
                }
            }
        }
        all.sort_unstable();
        all.dedup_by_key(|link| (link.from, link.to, std::mem::discriminant(&link.why)));
        let operations = index.ops.iter().len() as Node;
        add_processes(index, &mut all);
        add_time(index, operations, &mut all);
        all.sort_unstable();
        Self { all, operations }
    }
}

fn took_effect(operation: &Operation) -> bool {
    operation.outcome != Outcome::Fail
}

fn add_processes(index: &Index, all: &mut Vec<Link>) {
    let mut last_of: Vec<Option<OpId>> = vec![None; index.processes.len()];
    for (operation, op) in index.ops.iter().zip(0..) {
        if !took_effect(operation) {
            continue;
        }
        if let Some(from) = last_of[operation.process as usize].replace(op) {
            all.push(Link { from, to: op, why: Why::Process });
        }
    }
}

/// Instants stand between operations, so that there are as many links as operations and not their
/// square: who ended leads to the instant, one instant to the next, and that to who begins then.
fn add_time(index: &Index, operations: Node, all: &mut Vec<Link>) {
    let ended = |(operation, op): (&Operation, OpId)| (operation.completed_at, op);
    let live = || index.ops.iter().zip(0..).filter(|(operation, _)| took_effect(operation));
    let mut ends: Vec<(TimeNs, OpId)> = live().map(ended).collect();
    ends.retain(|(at, _)| *at != TimeNs::MAX);
    ends.sort_unstable();
    for (nth, (_, op)) in ends.iter().enumerate() {
        let instant = operations + nth as Node;
        all.push(Link { from: *op, to: instant, why: Why::Time });
        if nth + 1 < ends.len() {
            all.push(Link { from: instant, to: instant + 1, why: Why::Time });
        }
    }
    for (operation, op) in live() {
        let before = ends.partition_point(|(at, _)| *at < operation.invoked_at);
        if let Some(instant) = before.checked_sub(1) {
            let from = operations + instant as Node;
            all.push(Link { from, to: op, why: Why::Time });
        }
    }
}
