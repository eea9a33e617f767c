//! What polls of one key returned, in the order in which they ended.

use highwater_history::{LeaderEpoch, Offset};

use super::{NO_OFFSET, operations::OpId, records::RecordId};

/// What one operation read from one key: a stretch of the arrays in [`Reads`].
#[derive(Clone, Copy, Debug)]
pub struct PollRun {
    /// The operation.
    pub op: OpId,
    start: u32,
    end: u32,
    /// Whether the key changed hands while the operation ran.
    pub rebalanced: bool,
}

/// The reads of one key.
#[derive(Debug, Default)]
pub struct Reads {
    runs: Vec<PollRun>,
    offsets: Vec<Offset>,
    records: Vec<RecordId>,
    epochs: Vec<(u32, Offset, LeaderEpoch)>,
    highest_ok: Option<Offset>,
}

impl Reads {
    /// Adds a record to what an operation read; all records of one operation come in a row.
    pub fn push(&mut self, op: OpId, offset: Option<Offset>, record: RecordId, ok: bool) {
        let end = u32::try_from(self.records.len()).expect("fewer than 2^32 reads of one key");
        match self.runs.last_mut() {
            Some(run) if run.op == op => run.end = end + 1,
            _ => self.runs.push(PollRun { op, start: end, end: end + 1, rebalanced: false }),
        }
        self.offsets.push(offset.unwrap_or(NO_OFFSET));
        self.records.push(record);
        if ok {
            self.highest_ok = self.highest_ok.max(offset);
        }
    }

    /// Notes that the last operation's reads fell into a rebalance.
    pub fn mark_rebalanced(&mut self, op: OpId) {
        if let Some(run) = self.runs.last_mut().filter(|run| run.op == op) {
            run.rebalanced = true;
        }
    }

    /// Notes the leader epoch of what the last operation read from an offset on.
    pub fn push_epoch(&mut self, op: OpId, from: Offset, epoch: LeaderEpoch) {
        if self.runs.last().is_some_and(|run| run.op == op) {
            let run = self.runs.len() as u32 - 1;
            self.epochs.push((run, from, epoch));
        }
    }

    /// Every operation's reads.
    pub fn runs(&self) -> &[PollRun] {
        &self.runs
    }

    /// The offsets and records of one operation's reads, in order.
    pub fn of(&self, run: &PollRun) -> impl Iterator<Item = (Option<Offset>, RecordId)> + '_ {
        let range = run.start as usize..run.end as usize;
        let offsets = self.offsets[range.clone()].iter().map(|offset| told(*offset));
        offsets.zip(self.records[range].iter().copied())
    }

    /// Every read.
    pub fn iter(&self) -> impl Iterator<Item = (Option<Offset>, RecordId)> + '_ {
        let offsets = self.offsets.iter().map(|offset| told(*offset));
        offsets.zip(self.records.iter().copied())
    }

    /// The highest offset that an ok poll returned.
    pub fn highest_ok(&self) -> Option<Offset> {
        self.highest_ok
    }

    /// The leader epochs of what one operation read, each with the offset from which it was told.
    pub fn epochs_of(
        &self,
        run: &PollRun,
    ) -> impl Iterator<Item = (LeaderEpoch, Offset)> + use<'_> {
        let nth = self.runs.partition_point(|other| other.start < run.start) as u32;
        let of_run = self.epochs.iter().filter(move |(of, ..)| *of == nth);
        of_run.map(|(_, from, epoch)| (*epoch, *from))
    }

    /// The leader epoch under which some poll read a record at an offset.
    pub fn epoch_of(&self, offset: Offset, record: RecordId) -> Option<LeaderEpoch> {
        self.epochs.chunk_by(|a, b| a.0 == b.0).find_map(|epochs| {
            let at = epochs.partition_point(|(_, from, _)| *from <= offset).checked_sub(1)?;
            let run = &self.runs[epochs[at].0 as usize];
            let read = self.of(run).any(|read| read == (Some(offset), record));
            read.then_some(epochs[at].2)
        })
    }
}

fn told(offset: Offset) -> Option<Offset> {
    Some(offset).filter(|offset| *offset != NO_OFFSET)
}
