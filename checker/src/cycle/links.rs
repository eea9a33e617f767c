//! Which operation precedes which: by what it read, by the order of the log, by process, by time.

use std::{collections::BTreeMap, mem::discriminant};

use highwater_history::{TimeNs, Value, event::Isolation, types::ProcessId};
use serde::{Deserialize, Serialize};

use crate::{
    index::{
        Index, KeyId, KeyIndex,
        operations::{OpId, Operation, Outcome},
    },
    view::KeyView,
};

/// Why one operation precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The other read what it sent, and was promised to be given only what is committed.
    Read(KeyId, Value),
    /// The other read what it sent, and was not promised that.
    DirtyRead(KeyId, Value),
    /// The log has what it sent before what the other sent, with nothing known between.
    Log(KeyId, Value, Value),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(Node, Node, Why)", into = "(Node, Node, Why)")]
pub struct Link {
    /// Which.
    pub from: Node,
    /// The other.
    pub to: Node,
    /// Why.
    pub why: Why,
}

impl From<(Node, Node, Why)> for Link {
    fn from((from, to, why): (Node, Node, Why)) -> Self {
        Self { from, to, why }
    }
}

impl From<Link> for (Node, Node, Why) {
    fn from(Link { from, to, why }: Link) -> Self {
        (from, to, why)
    }
}

/// An operation that may have taken effect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "ActAsList", into = "ActAsList")]
pub struct Act {
    /// Its number.
    pub op: OpId,
    /// Its process.
    pub process: ProcessId,
    /// Index of its invocation.
    pub invoked: u64,
    /// Index of its completion.
    pub completed: Option<u64>,
    /// When it began.
    pub invoked_at: TimeNs,
    /// When it ended; the end of time when it did not.
    pub completed_at: TimeNs,
}

/// There are many: a part file holds them without the names of their fields.
type ActAsList = (OpId, ProcessId, u64, Option<u64>, TimeNs, TimeNs);

impl From<ActAsList> for Act {
    fn from(list: ActAsList) -> Self {
        let (op, process, invoked, completed, invoked_at, completed_at) = list;
        Self { op, process, invoked, completed, invoked_at, completed_at }
    }
}

impl From<Act> for ActAsList {
    fn from(act: Act) -> Self {
        let Act { op, process, invoked, completed, invoked_at, completed_at } = act;
        (op, process, invoked, completed, invoked_at, completed_at)
    }
}

/// Every operation that sent to one of these keys or read it, and may have taken effect, in order.
/// Others are nobody's reason: what they precede and follow is linked without them.
pub fn acts(index: &Index, keys: &[KeyView<'_>]) -> Vec<Act> {
    let mut ops: Vec<OpId> = Vec::new();
    for KeyIndex { records, sends, reads, .. } in keys.iter().map(|view| view.key) {
        ops.extend(sends.iter().filter_map(|record| records.sender(*record)));
        ops.extend(reads.runs().map(|run| run.op));
    }
    ops.sort_unstable();
    ops.dedup();
    let live = ops.into_iter().map(|op| (op, index.ops.get(op)));
    let live = live.filter(|(_, operation)| took_effect(operation));
    let act = |(op, operation): (OpId, &Operation)| Act {
        op,
        process: index.processes.get(operation.process).number,
        invoked: operation.invoked,
        completed: operation.completion(),
        invoked_at: operation.invoked_at,
        completed_at: operation.completed_at,
    };
    live.map(act).collect()
}

/// What the records of one key say of which operation precedes which. Offsets with several records
/// order nothing: they are another anomaly.
pub fn of_key(view: &KeyView<'_>) -> Vec<Link> {
    let mut all = Vec::new();
    let key = view.key;
    let mut add = |from: Option<OpId>, to: Option<OpId>, why| {
        let (Some(from), Some(to)) = (from, to) else { return };
        if from != to && [from, to].iter().all(|op| took_effect(view.op(*op))) {
            all.push(Link { from, to, why });
        }
    };
    for (run, read) in key.reads.polls() {
        let is_isolated = view.isolation(view.op(run.op)) == Isolation::ReadCommitted;
        let why = if is_isolated { Why::Read } else { Why::DirtyRead };
        for (_, record) in read {
            let value = key.records.value(record);
            add(key.records.sender(record), Some(run.op), why(view.id, value));
        }
    }
    let mut before = None;
    for (_, holders) in key.order.iter() {
        let [record] = holders else { continue };
        let (sender, value) = (key.records.sender(*record), key.records.value(*record));
        if let Some((from, first)) = before.replace((sender, value)) {
            add(from, sender, Why::Log(view.id, first, value));
        }
    }
    fewest(&mut all);
    all
}

/// One link of each kind from one operation to another is enough.
fn fewest(links: &mut Vec<Link>) {
    links.sort_unstable();
    links.dedup_by_key(|link| (link.from, link.to, discriminant(&link.why)));
}

/// Everything that precedes something. Nodes below `operations` are operations.
#[derive(Debug)]
pub struct Links {
    /// Sorted, each once.
    pub all: Vec<Link>,
    /// How many operations there are, at least.
    pub operations: Node,
}

impl Links {
    /// Of what all keys say, and of the operations.
    pub fn of(mut of_keys: Vec<Link>, acts: &[Act]) -> Self {
        fewest(&mut of_keys);
        let mut all = of_keys;
        let operations = acts.last().map_or(0, |act| act.op + 1);
        add_processes(acts, &mut all);
        add_time(acts, operations, &mut all);
        all.sort_unstable();
        Self { all, operations }
    }
}

fn took_effect(operation: &Operation) -> bool {
    operation.outcome != Outcome::Fail
}

fn add_processes(acts: &[Act], all: &mut Vec<Link>) {
    let mut last_of: BTreeMap<ProcessId, OpId> = BTreeMap::new();
    for act in acts {
        if let Some(from) = last_of.insert(act.process, act.op) {
            all.push(Link { from, to: act.op, why: Why::Process });
        }
    }
}

/// Instants stand between operations, so that there are as many links as operations and not their
/// square: who ended leads to the instant, one instant to the next, and that to who begins then.
fn add_time(acts: &[Act], operations: Node, all: &mut Vec<Link>) {
    let mut ends: Vec<(TimeNs, OpId)> = acts.iter().map(|act| (act.completed_at, act.op)).collect();
    ends.retain(|(at, _)| *at != TimeNs::MAX);
    ends.sort_unstable();
    for (nth, (_, op)) in ends.iter().enumerate() {
        let instant = operations + nth as Node;
        all.push(Link { from: *op, to: instant, why: Why::Time });
        if let Some(before) = nth.checked_sub(1) {
            let from = operations + before as Node;
            all.push(Link { from, to: instant, why: Why::Time });
        }
    }
    for act in acts {
        let before = ends.partition_point(|(at, _)| *at < act.invoked_at);
        if let Some(instant) = before.checked_sub(1) {
            let from = operations + instant as Node;
            all.push(Link { from, to: act.op, why: Why::Time });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Act, Link, Links, Why};

    fn act(op: u32, invoked_at: u64, completed_at: u64) -> Act {
        let (invoked, completed) = (u64::from(op) * 2, Some(u64::from(op) * 2 + 1));
        Act { op, process: op.into(), invoked, completed, invoked_at, completed_at }
    }

    fn by_time(acts: &[Act]) -> Vec<(u32, u32)> {
        let links = Links::of(Vec::new(), acts).all;
        let time = links.iter().filter(|link| link.why == Why::Time);
        time.map(|Link { from, to, .. }| (*from, *to)).collect()
    }

    #[test]
    fn who_began_as_another_ended_does_not_come_after_it() {
        assert_eq!(by_time(&[act(0, 1, 2), act(1, 2, 4)]), [(0, 2), (1, 3), (2, 3)]);
        assert_eq!(by_time(&[act(0, 1, 2), act(1, 3, 4)]), [(0, 2), (1, 3), (2, 1), (2, 3)]);
    }

    #[test]
    fn one_instant_leads_to_the_next_where_nobody_began_between() {
        let acts = [act(0, 1, 3), act(1, 2, 4), act(2, 2, 5), act(3, 6, u64::MAX)];
        assert_eq!(by_time(&acts), [(0, 4), (1, 5), (2, 6), (4, 5), (5, 6), (6, 3)]);
    }
}
