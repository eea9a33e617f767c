//! Known offsets of one key: which values are known where, and each offset's rank.

use highwater_history::Offset;

use super::{
    operations::Operations,
    reads::Reads,
    records::{RecordId, Records},
};

/// Where a record is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nowhere.
    Nowhere,
    /// At exactly one offset.
    At(Offset),
    /// At two or more.
    Many,
}

/// The known offsets of one key.
#[derive(Debug, Default)]
pub struct Order {
    offsets: Vec<Offset>,
    starts: Vec<u32>,
    holders: Vec<RecordId>,
    places: Vec<Known>,
    ranks: Vec<u32>,
}

/// Stands for an offset without a rank in the table of ranks.
const NO_RANK: u32 = u32::MAX;

impl Order {
    /// A table from offset to rank is kept while it is at most this many times as long as needed.
    const SPREAD: i64 = 4;
    /// And longer by this.
    const HEAD: i64 = 4096;

    /// Collects what certain acknowledgements and all polls say.
    pub fn build(records: &Records, reads: &Reads, ops: &Operations) -> Self {
        let mut pairs: Vec<(Offset, RecordId)> = Vec::with_capacity(records.len());
        let mut last_seen = vec![Offset::MIN; records.len()];
        for record in records.ids() {
            if let Some(offset) = records.ack(record, ops) {
                pairs.push((offset, record));
                last_seen[record as usize] = offset;
            }
        }
        for (offset, record) in reads.iter() {
            let Some(offset) = offset else { continue };
            if last_seen[record as usize] != offset {
                pairs.push((offset, record));
                last_seen[record as usize] = offset;
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self::of_pairs(&pairs, records.len())
    }

    fn of_pairs(pairs: &[(Offset, RecordId)], records: usize) -> Self {
        let mut order = Self { places: vec![Known::Nowhere; records], ..Self::default() };
        for &(offset, record) in pairs {
            if order.offsets.last() != Some(&offset) {
                order.offsets.push(offset);
                order.starts.push(order.holders.len() as u32);
            }
            order.holders.push(record);
            let place = &mut order.places[record as usize];
            *place = match *place {
                Known::Nowhere => Known::At(offset),
                Known::At(_) | Known::Many => Known::Many,
            };
        }
        order.starts.push(order.holders.len() as u32);
        order.tabulate();
        order
    }

    fn tabulate(&mut self) {
        let (Some(first), Some(last)) = (self.offsets.first(), self.offsets.last()) else { return };
        let most = Self::SPREAD * self.offsets.len() as i64 + Self::HEAD;
        let span = last.checked_sub(*first).filter(|span| *span < most);
        let Some(span) = span.and_then(|span| usize::try_from(span).ok()) else { return };
        self.ranks = vec![NO_RANK; span + 1];
        for (rank, offset) in self.offsets.iter().enumerate() {
            self.ranks[(offset - first) as usize] = rank as u32;
        }
    }

    /// The rank of a known offset.
    ///
    /// # Panics
    /// When the offset is not known.
    pub fn rank(&self, offset: Offset) -> usize {
        if self.ranks.is_empty() {
            return self.offsets.binary_search(&offset).expect("the offset is known");
        }
        let rank = self.ranks[(offset - self.offsets[0]) as usize];
        assert!(rank != NO_RANK, "the offset is known");
        rank as usize
    }

    /// The step from one known offset to another: the difference of their ranks.
    pub fn step(&self, from: Offset, to: Offset) -> i64 {
        if from.checked_add(1) == Some(to) {
            1
        } else {
            self.rank(to) as i64 - self.rank(from) as i64
        }
    }

    /// Known offsets between two known ones, exclusive.
    pub fn between(&self, from: Offset, to: Offset) -> &[Offset] {
        let (from, to) = (self.rank(from) + 1, self.rank(to));
        self.offsets.get(from..to).unwrap_or_default()
    }

    /// Every known offset with the records known there.
    pub fn iter(&self) -> impl Iterator<Item = (Offset, &[RecordId])> {
        self.offsets.iter().enumerate().map(|(rank, offset)| (*offset, self.at_rank(rank)))
    }

    /// The records known at an offset.
    pub fn holders(&self, offset: Offset) -> &[RecordId] {
        self.offsets.binary_search(&offset).map_or(&[], |rank| self.at_rank(rank))
    }

    fn at_rank(&self, rank: usize) -> &[RecordId] {
        &self.holders[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    /// Where a record is known to be.
    pub fn place(&self, record: RecordId) -> Known {
        self.places[record as usize]
    }

    /// The record's only known offset.
    pub fn sole(&self, record: RecordId) -> Option<Offset> {
        match self.place(record) {
            Known::At(offset) => Some(offset),
            Known::Nowhere | Known::Many => None,
        }
    }

    /// Every offset at which a record is known, for details.
    pub fn offsets_of(&self, record: RecordId) -> Vec<Offset> {
        self.iter()
            .filter(|(_, holders)| holders.contains(&record))
            .map(|(offset, _)| offset)
            .collect()
    }
}
