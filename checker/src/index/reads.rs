//! What polls of one key returned, in the order in which they ended.

use std::{collections::BTreeSet, ops::Range};

use highwater_history::{LeaderEpoch, Offset};

use super::{NO_OFFSET, gently, log::Log, operations::OpId, records::RecordId};

/// What one operation read from one key: a stretch of the arrays in [`Reads`].
#[derive(Clone, Debug)]
pub struct PollRun {
    /// The operation.
    pub op: OpId,
    pieces: Range<u32>,
    /// How many strange records stand before its first.
    strange: u32,
}

/// Reads in a row of one operation at offsets that rise by one, or at none: all of the records that
/// the log names there, or all strange ones, which it does not.
#[derive(Clone, Copy, Debug)]
struct Piece {
    op: OpId,
    reads: u32,
    from: Offset,
}

impl Piece {
    /// The highest bit of `reads`.
    const STRANGE: u32 = 1 << 31;

    fn is_strange(self) -> bool {
        self.reads & Self::STRANGE != 0
    }

    fn len(self) -> u32 {
        self.reads & !Self::STRANGE
    }

    fn offset_of(self, read: u32) -> Offset {
        match self.from {
            NO_OFFSET => NO_OFFSET,
            from => from.saturating_add(Offset::from(read)),
        }
    }
}

/// The reads of one key. Most polls return what everybody was told of these offsets: their records
/// are kept once, in the log.
#[derive(Debug, Default)]
pub struct Reads {
    log: Log,
    pieces: Vec<Piece>,
    /// Records that were read where the log names another, or at no offset.
    strange: Vec<RecordId>,
    /// By the position of an operation's first piece.
    epochs: Vec<(u32, Offset, LeaderEpoch)>,
    /// The last operation's first piece.
    last_run: u32,
    /// Operations while which the key changed hands.
    rebalanced: BTreeSet<OpId>,
}

impl Reads {
    /// The records that somebody first named at an offset and at those after it, a guess for the
    /// next who does; `log::NONE` where nobody did.
    pub fn named_from(&self, offset: Offset) -> &[RecordId] {
        self.log.from(offset)
    }

    /// Notes where an acknowledgement places a record.
    pub fn name(&mut self, offset: Offset, record: RecordId) {
        self.log.name(offset, record);
    }

    /// Adds a record to what an operation read; all records of one operation come in a row.
    pub fn push(&mut self, op: OpId, offset: Option<Offset>, record: RecordId) {
        let is_named = offset.is_some_and(|offset| self.log.name(offset, record) == record);
        if !is_named {
            gently::push(&mut self.strange, record);
        }
        let kind = if is_named { 0 } else { Piece::STRANGE };
        self.add(Piece { op, reads: kind | 1, from: offset.unwrap_or(NO_OFFSET) });
    }

    /// Adds records that stand at offsets from one on and are those that the log names there.
    pub fn push_named(&mut self, op: OpId, from: Offset, reads: u32) {
        assert!(reads < Piece::STRANGE, "fewer than 2^31 records of one poll");
        self.add(Piece { op, reads, from });
    }

    fn add(&mut self, piece: Piece) {
        let op = piece.op;
        let goes_on = |last: &&mut Piece| {
            let next = last.len();
            let fits =
                last.is_strange() == piece.is_strange() && last.offset_of(next) == piece.from;
            last.op == op
                && fits
                && u64::from(next) + u64::from(piece.len()) < Piece::STRANGE.into()
        };
        if let Some(last) = self.pieces.last_mut().filter(goes_on) {
            last.reads += piece.len();
            return;
        }
        let at = u32::try_from(self.pieces.len()).expect("fewer than 2^32 polls of one key");
        if self.pieces.last().is_none_or(|last| last.op != op) {
            self.last_run = at;
        }
        gently::push(&mut self.pieces, piece);
    }

    /// Notes that an operation's reads fell into a rebalance.
    pub fn mark_rebalanced(&mut self, op: OpId) {
        self.rebalanced.insert(op);
    }

    /// Whether the key changed hands while an operation ran.
    pub fn is_rebalanced(&self, op: OpId) -> bool {
        self.rebalanced.contains(&op)
    }

    /// Notes the leader epoch of what the last operation read from an offset on.
    pub fn push_epoch(&mut self, op: OpId, from: Offset, epoch: LeaderEpoch) {
        if self.pieces.last().is_some_and(|last| last.op == op) {
            self.epochs.push((self.last_run, from, epoch));
        }
    }

    /// Whether something was read without its offset.
    pub fn some_untold(&self) -> bool {
        self.pieces.iter().any(|piece| piece.from == NO_OFFSET)
    }

    /// Every operation's reads, in the order in which they ended.
    pub fn runs(&self) -> impl Iterator<Item = PollRun> + '_ {
        let (mut at, mut strange) = (0, 0);
        self.pieces.chunk_by(|a, b| a.op == b.op).map(move |pieces| {
            let end = at + pieces.len() as u32;
            let run = PollRun { op: pieces[0].op, pieces: at..end, strange };
            at = end;
            let those = pieces.iter().filter(|piece| piece.is_strange());
            strange += those.map(|piece| piece.len()).sum::<u32>();
            run
        })
    }

    /// The offsets and records of one operation's reads, in order.
    pub fn of<'a>(
        &'a self,
        run: &PollRun,
    ) -> impl Iterator<Item = (Option<Offset>, RecordId)> + use<'a> {
        self.pieces_of(run).flat_map(move |(piece, strange)| {
            (0..piece.len()).map(move |read| self.read_of(piece, strange, read))
        })
    }

    /// Every operation's reads, each with its offsets and records.
    pub fn polls<'a>(
        &'a self,
    ) -> impl Iterator<Item = (PollRun, impl Iterator<Item = (Option<Offset>, RecordId)> + use<'a>)>
    + use<'a> {
        self.runs().map(|run| {
            let read = self.of(&run);
            (run, read)
        })
    }

    /// What an operation read, but for the middle of stretches whose offsets rise by one; and
    /// whether a read follows on the one before through such a stretch.
    pub fn edges<'a>(
        &'a self,
        run: &PollRun,
    ) -> impl Iterator<Item = (Option<Offset>, RecordId, bool)> + use<'a> {
        self.pieces_of(run).flat_map(move |(piece, strange)| {
            let last = piece.len() - 1;
            let step = if piece.from == NO_OFFSET { 1 } else { last.max(1) as usize };
            (0..=last).step_by(step).map(move |read| {
                let (offset, record) = self.read_of(piece, strange, read);
                (offset, record, read > 0 && offset.is_some())
            })
        })
    }

    /// The highest offset that an operation read, with the record.
    pub fn highest(&self, run: &PollRun) -> Option<(Offset, RecordId)> {
        let lasts = self.pieces_of(run).filter_map(|(piece, strange)| {
            let (offset, record) = self.read_of(piece, strange, piece.len() - 1);
            Some((offset?, record))
        });
        lasts.max_by_key(|(offset, _)| *offset)
    }

    /// The highest offset at which anybody read a record.
    pub fn read_to(&self) -> Option<Offset> {
        let lasts = self.pieces.iter().map(|piece| piece.offset_of(piece.len() - 1));
        lasts.max().filter(|offset| *offset != NO_OFFSET)
    }

    /// Where records were read, each place once or more often.
    pub fn places(&self) -> Vec<(Offset, RecordId)> {
        let Some((first, table)) = self.log.table() else {
            return self.iter().filter_map(|(offset, record)| Some((offset?, record))).collect();
        };
        // How many polls begin or end to cover each place of the table.
        let mut changes = vec![0_i32; table.len() + 1];
        let mut places = Vec::new();
        for run in self.runs() {
            for (piece, strange) in self.pieces_of(&run) {
                if piece.is_strange() {
                    let reads = (0..piece.len()).map(|read| self.read_of(piece, strange, read));
                    places.extend(reads.filter_map(|(offset, record)| Some((offset?, record))));
                } else {
                    let from = (piece.from - first) as usize;
                    changes[from] += 1;
                    changes[from + piece.len() as usize] -= 1;
                }
            }
        }
        let mut covered = 0;
        for ((offset, record), change) in (first..).zip(table).zip(changes) {
            covered += change;
            if covered > 0 {
                places.push((offset, *record));
            }
        }
        places
    }

    /// The pieces of a run, each with the position of its strange records.
    fn pieces_of<'a>(&'a self, run: &PollRun) -> impl Iterator<Item = (Piece, u32)> + use<'a> {
        let pieces = &self.pieces[run.pieces.start as usize..run.pieces.end as usize];
        let mut strange = run.strange;
        pieces.iter().map(move |piece| {
            let at = strange;
            if piece.is_strange() {
                strange += piece.len();
            }
            (*piece, at)
        })
    }

    fn read_of(&self, piece: Piece, strange: u32, read: u32) -> (Option<Offset>, RecordId) {
        let offset = piece.offset_of(read);
        let record = match piece.is_strange() {
            true => self.strange.get((strange + read) as usize).copied(),
            false => self.log.at(offset),
        };
        let record = record.expect("a read has its record in the log or apart");
        (Some(offset).filter(|offset| *offset != NO_OFFSET), record)
    }

    /// Every read.
    pub fn iter(&self) -> impl Iterator<Item = (Option<Offset>, RecordId)> + '_ {
        self.polls().flat_map(|(_, read)| read)
    }

    /// Gives back what was taken for reads that did not come.
    pub fn shrink(&mut self) {
        self.log.shrink();
        self.pieces.shrink_to_fit();
        self.strange.shrink_to_fit();
    }

    /// The leader epochs of what one operation read, each with the offset from which it was told.
    pub fn epochs_of(
        &self,
        run: &PollRun,
    ) -> impl Iterator<Item = (LeaderEpoch, Offset)> + use<'_> {
        let nth = run.pieces.start;
        let of_run = self.epochs.iter().filter(move |(of, ..)| *of == nth);
        of_run.map(|(_, from, epoch)| (*epoch, *from))
    }

    /// The leader epoch under which some poll read a record at an offset.
    pub fn epoch_of(&self, offset: Offset, record: RecordId) -> Option<LeaderEpoch> {
        let mut runs = self.runs().peekable();
        self.epochs.chunk_by(|a, b| a.0 == b.0).find_map(|epochs| {
            let at = epochs.partition_point(|(_, from, _)| *from <= offset).checked_sub(1)?;
            while runs.next_if(|run| run.pieces.start < epochs[at].0).is_some() {}
            let read = self.of(runs.peek()?).any(|read| read == (Some(offset), record));
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
            let runs = reads.runs();
            let by_run: Vec<Vec<_>> = runs.map(|run| reads.of(&run).collect()).collect();
            prop_assert_eq!(&by_run, &polls);
            prop_assert_eq!(reads.iter().collect::<Vec<_>>(), polls.concat());
            let placed = |(offset, record): &(Option<Offset>, u32)| Some(((*offset)?, *record));
            let places: BTreeSet<_> = reads.places().into_iter().collect();
            prop_assert_eq!(places, polls.concat().iter().filter_map(placed).collect());
            let read_to = polls.concat().iter().filter_map(|(offset, _)| *offset).max();
            prop_assert_eq!(reads.read_to(), read_to);
            for (run, poll) in reads.runs().zip(&polls) {
                let highest = poll.iter().filter_map(placed).max_by_key(|(offset, _)| *offset);
                prop_assert_eq!(reads.highest(&run), highest);
                let all: Vec<_> = reads.edges(&run).collect();
                // Between two edges that follow on each other stands what rises by one.
                let mut whole: Vec<(Option<Offset>, u32)> = Vec::new();
                for (offset, record, follows) in all {
                    while let (true, Some(Some(last)), Some(to)) =
                        (follows, whole.last().map(|(last, _)| *last), offset)
                        && last + 1 < to
                    {
                        let middle = (Some(last + 1), poll[whole.len()].1);
                        whole.push(middle);
                    }
                    whole.push((offset, record));
                }
                prop_assert_eq!(&whole, poll);
            }
        }
    }
}
