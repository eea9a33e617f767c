//! Measurements of a history alone: how soon records were read, how long a key acknowledged
//! nothing, how soon it went on after the last fault. They accuse nobody; within-limits does, where
//! the user sets a limit.

use std::cmp::Reverse;

use highwater_history::{TimeNs, Value, event::Process};
use serde::{Deserialize, Serialize};

use crate::{
    index::{
        Index, KeyId,
        operations::{NO_OP, OpId, Operation, Outcome},
        records::RecordId,
    },
    parallel,
    view::{KeyView, RunView},
};

/// A time in which a key waited for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wait {
    pub key: KeyId,
    /// The record that was waited for, if it is one.
    pub value: Option<Value>,
    pub from: TimeNs,
    pub to: TimeNs,
}

impl Wait {
    pub(crate) fn ns(&self) -> TimeNs {
        self.to.saturating_sub(self.from)
    }

    /// The longer one; of equals the one that began first, of the first key.
    fn longer(self, other: Self) -> Self {
        let rank = |wait: &Self| (wait.ns(), Reverse((wait.from, wait.key, wait.value)));
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// What was measured of some keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Acknowledged records that an ok poll returned, and how long these took to be read.
    pub read: u64,
    pub lag_sum: u64,
    pub lag: Option<Wait>,
    /// Acknowledged records that no ok poll returned, and the one that waits longest for it.
    pub unread: u64,
    pub oldest_unread: Option<Wait>,
    /// The longest time in which sends were asked for and none was acknowledged.
    pub unavailable: Option<Wait>,
    /// From the last event of the nemesis to the first send that began and was acknowledged after
    /// it, and to the first such poll that returned something.
    pub sends_again: Option<Wait>,
    pub reads_again: Option<Wait>,
    /// From that event to the last send that was tried since, of keys where none was acknowledged.
    pub sends_never: Option<Wait>,
}

impl Measured {
    /// Of several keys, measured on all cores.
    pub(crate) fn of(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Self {
        let healed_at = healed_at(run.index);
        let each = parallel::each(keys, |view| Self::of_key(view, healed_at));
        each.into_iter().fold(Self::default(), Self::and)
    }

    /// Of one key.
    pub(crate) fn of_key(view: &KeyView<'_>, healed_at: Option<TimeNs>) -> Self {
        let mut measured = Self::default();
        measured.lags(view);
        let senders = senders(view);
        measured.unavailable = longest_gap(view, &senders);
        if let Some(healed_at) = healed_at {
            measured.recovery(view, &senders, healed_at);
        }
        measured
    }

    /// The keys that it names.
    pub(crate) fn keys(&self) -> impl Iterator<Item = KeyId> + use<> {
        let waits = [self.lag, self.oldest_unread, self.unavailable, self.sends_again];
        let others = [self.reads_again, self.sends_never];
        waits.into_iter().chain(others).flatten().map(|wait| wait.key)
    }

    /// Of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let longer = |one: Option<Wait>, other: Option<Wait>| match (one, other) {
            (Some(one), Some(other)) => Some(one.longer(other)),
            (one, other) => one.or(other),
        };
        Self {
            read: self.read + other.read,
            lag_sum: self.lag_sum.saturating_add(other.lag_sum),
            lag: longer(self.lag, other.lag),
            unread: self.unread + other.unread,
            oldest_unread: longer(self.oldest_unread, other.oldest_unread),
            unavailable: longer(self.unavailable, other.unavailable),
            sends_again: longer(self.sends_again, other.sends_again),
            reads_again: longer(self.reads_again, other.reads_again),
            sends_never: longer(self.sends_never, other.sends_never),
        }
    }

    fn lags(&mut self, view: &KeyView<'_>) {
        let records = &view.key.records;
        let mut late = Vec::new();
        for record in records.ids().filter(|record| records.is_acknowledged(*record)) {
            let Some(sender) = view.sender(record) else { continue };
            let reader = records.reader(record).filter(|_| records.is_ok_read(record));
            match reader.map(|op| view.op(op)) {
                Some(reader) if reader.outcome == Outcome::Ok => {
                    self.add_lag(view, record, (sender, reader));
                }
                Some(_) => late.push(record),
                None => self.add_unread(view, record, sender),
            }
        }
        if late.is_empty() {
            return;
        }
        let readers = first_ok_readers(view);
        for record in late {
            let reader = readers[record as usize];
            if let Some(sender) = view.sender(record).filter(|_| reader != NO_OP) {
                self.add_lag(view, record, (sender, view.op(reader)));
            }
        }
    }

    fn add_lag(
        &mut self,
        view: &KeyView<'_>,
        record: RecordId,
        (sender, reader): (&Operation, &Operation),
    ) {
        let (from, to) = (sender.completed_at, reader.completed_at);
        let lag = to.saturating_sub(from);
        self.read += 1;
        self.lag_sum = self.lag_sum.saturating_add(lag);
        if self.lag.is_none_or(|known| lag >= known.ns()) {
            let value = Some(view.key.records.value(record));
            let wait = Wait { key: view.id, value, from, to };
            self.lag = Some(self.lag.map_or(wait, |known| known.longer(wait)));
        }
    }

    fn add_unread(&mut self, view: &KeyView<'_>, record: RecordId, sender: &Operation) {
        let (from, to) = (sender.completed_at, view.run.index.ended_at);
        let value = Some(view.key.records.value(record));
        let wait = Wait { key: view.id, value, from, to };
        self.unread += 1;
        self.oldest_unread = Some(self.oldest_unread.map_or(wait, |known| known.longer(wait)));
    }

    fn recovery(&mut self, view: &KeyView<'_>, senders: &[&Operation], healed_at: TimeNs) {
        let wait = |to| Wait { key: view.id, value: None, from: healed_at, to };
        let since: Vec<_> = senders.iter().filter(|op| op.invoked_at >= healed_at).collect();
        let acknowledged = since.iter().filter(|op| op.outcome == Outcome::Ok);
        self.sends_again = acknowledged.map(|op| op.completed_at).min().map(wait);
        if self.sends_again.is_none() {
            self.sends_never = since.iter().map(|op| told_at(op)).max().map(wait);
        }
        let reads = view.key.reads.runs().map(|run| view.op(run.op));
        let mut again = reads.filter(|op| op.invoked_at >= healed_at && op.outcome == Outcome::Ok);
        self.reads_again = again.next().map(|op| wait(op.completed_at));
    }
}

/// When the nemesis did something last: by then all was healed, where it heals what it breaks.
pub(crate) fn healed_at(index: &Index) -> Option<TimeNs> {
    let mut others = index.others.iter().rev();
    others.find(|event| event.process == Process::Nemesis).map(|event| event.time)
}

/// The operations that sent to a key, in the order in which they began.
fn senders<'a>(view: &KeyView<'a>) -> Vec<&'a Operation> {
    let records = &view.key.records;
    let mut ops: Vec<OpId> =
        view.key.sends.iter().filter_map(|record| records.sender(*record)).collect();
    ops.dedup();
    ops.into_iter().map(|op| view.op(op)).collect()
}

/// The longest time from when a send was first asked for to the next acknowledgement; one that
/// never came counts as long as anybody asked or was told anything.
fn longest_gap(view: &KeyView<'_>, senders: &[&Operation]) -> Option<Wait> {
    let ok = senders.iter().filter(|op| op.outcome == Outcome::Ok);
    let mut acknowledged: Vec<TimeNs> = ok.map(|op| op.completed_at).collect();
    acknowledged.sort_unstable();
    let end = senders.iter().map(|op| told_at(op)).max()?;
    let (mut nth, mut waiting, mut longest) = (0, None, None);
    let mut close = |from: Option<TimeNs>, to: TimeNs| {
        let Some(from) = from else { return };
        let gap = Wait { key: view.id, value: None, from, to };
        longest = Some(longest.map_or(gap, |known: Wait| known.longer(gap)));
    };
    for asked in senders.iter().map(|op| op.invoked_at) {
        while let Some(at) = acknowledged.get(nth).filter(|at| **at < asked) {
            close(waiting.take(), *at);
            nth += 1;
        }
        waiting.get_or_insert(asked);
    }
    close(waiting, acknowledged.get(nth).copied().unwrap_or(end));
    longest
}

/// When an operation ended, or began if it never did.
fn told_at(operation: &Operation) -> TimeNs {
    match operation.completion() {
        Some(_) => operation.completed_at,
        None => operation.invoked_at,
    }
}

/// The first ok operation that read each record.
fn first_ok_readers(view: &KeyView<'_>) -> Vec<OpId> {
    let mut readers = vec![NO_OP; view.key.records.len()];
    for (run, read) in view.key.reads.polls() {
        if view.op(run.op).outcome == Outcome::Ok {
            for (_, record) in read {
                let reader = &mut readers[record as usize];
                *reader = if *reader == NO_OP { run.op } else { *reader };
            }
        }
    }
    readers
}
