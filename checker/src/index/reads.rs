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
    /// The stretch of its first read.
    stretch: u32,
    /// Whether the key changed hands while the operation ran.
    pub rebalanced: bool,
}

/// Reads in a row at offsets that rise by one, or at none.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Its first read.
    start: u32,
    /// The offset of that.
    from: Offset,
}

impl Stretch {
    fn offset_of(self, read: u32) -> Option<Offset> {
        let above = Offset::from(read - self.start);
        (self.from != NO_OFFSET).then(|| self.from.saturating_add(above))
    }
}

/// The reads of one key. Most polls return what follows on the one before: offsets are kept by
/// stretches.
#[derive(Debug, Default)]
pub struct Reads {
    runs: Vec<PollRun>,
    records: Vec<RecordId>,
    stretches: Vec<Stretch>,
    epochs: Vec<(u32, Offset, LeaderEpoch)>,
}

impl Reads {
    /// Adds a record to what an operation read; all records of one operation come in a row.
    pub fn push(&mut self, op: OpId, offset: Option<Offset>, record: RecordId) {
        let read = u32::try_from(self.records.len()).expect("fewer than 2^32 reads of one key");
        let expected = self.stretches.last().map(|stretch| stretch.offset_of(read));
        if expected != Some(offset) {
            self.stretches.push(Stretch { start: read, from: offset.unwrap_or(NO_OFFSET) });
        }
        let (start, end, stretch) = (read, read + 1, self.stretches.len() as u32 - 1);
        match self.runs.last_mut() {
            Some(run) if run.op == op => run.end = end,
            _ => self.runs.push(PollRun { op, start, end, stretch, rebalanced: false }),
        }
        self.records.push(record);
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
        self.between(run.start, run.end, run.stretch as usize)
    }

    /// Every read.
    pub fn iter(&self) -> impl Iterator<Item = (Option<Offset>, RecordId)> + '_ {
        self.between(0, self.records.len() as u32, 0)
    }

    fn between(
        &self,
        start: u32,
        end: u32,
        mut stretch: usize,
    ) -> impl Iterator<Item = (Option<Offset>, RecordId)> + '_ {
        let records = &self.records[start as usize..end as usize];
        (start..end).zip(records).map(move |(read, record)| {
            if self.stretches.get(stretch + 1).is_some_and(|next| next.start == read) {
                stretch += 1;
            }
            (self.stretches[stretch].offset_of(read), *record)
        })
    }

    /// Gives back what was taken for reads that did not come.
    pub fn shrink(&mut self) {
        self.runs.shrink_to_fit();
        self.records.shrink_to_fit();
        self.stretches.shrink_to_fit();
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

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn what_was_read_comes_back(
            polls in vec(vec((proptest::option::of(0i64..6), 0u32..9), 1..8), 0..12),
        ) {
            let mut reads = Reads::default();
            for (op, poll) in polls.iter().enumerate() {
                for (offset, record) in poll {
                    reads.push(op as OpId, *offset, *record);
                }
            }
            reads.shrink();
            let runs = reads.runs().iter();
            let by_run: Vec<Vec<_>> = runs.map(|run| reads.of(run).collect()).collect();
            prop_assert_eq!(&by_run, &polls);
            prop_assert_eq!(reads.iter().collect::<Vec<_>>(), polls.concat());
        }
    }
}
