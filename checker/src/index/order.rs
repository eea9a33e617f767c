//! Known offsets of one key: which values are known where, and each offset's rank.

use std::{collections::BTreeMap, ops::Range, slice};

use highwater_history::Offset;

use super::{
    NO_OFFSET,
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

/// The known offsets of one key. In most logs they follow each other, and each holds one record:
/// offsets are kept by stretches, and what is otherwise apart.
#[derive(Debug, Default)]
pub struct Order {
    stretches: Vec<Stretch>,
    /// The record at each rank; the lowest where there are several.
    holders: Vec<RecordId>,
    /// All records of the ranks that have several.
    conflicts: BTreeMap<u32, Vec<RecordId>>,
    /// The lowest offset of each record.
    places: Vec<Offset>,
    /// All offsets of the records that have several.
    moved: BTreeMap<RecordId, Vec<Offset>>,
}

/// Known offsets that rise by one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: Offset,
    /// The rank of the first.
    rank: u32,
}

impl Order {
    /// Collects what certain acknowledgements and all polls say.
    pub fn build(records: &Records, reads: &Reads, ops: &Operations) -> Self {
        let mut pairs: Vec<(Offset, RecordId)> = Vec::with_capacity(records.len());
        let mut last_seen = vec![NO_OFFSET; records.len()];
        for record in records.ids() {
            if let Some(offset) = records.ack(record, ops) {
                pairs.push((offset, record));
                last_seen[record as usize] = offset;
            }
        }
        for (offset, record) in reads.places() {
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
        let mut order = Self { places: vec![NO_OFFSET; records], ..Self::default() };
        for holders in pairs.chunk_by(|a, b| a.0 == b.0) {
            let (offset, first) = holders[0];
            let rank = u32::try_from(order.holders.len()).expect("fewer than 2^32 offsets");
            if order.stretches.last().is_none_or(|last| last.offset_of(rank) != offset) {
                order.stretches.push(Stretch { first: offset, rank });
            }
            order.holders.push(first);
            if holders.len() > 1 {
                let all = holders.iter().map(|(_, record)| *record).collect();
                order.conflicts.insert(rank, all);
            }
            for (_, record) in holders {
                order.put(*record, offset);
            }
        }
        order.holders.shrink_to_fit();
        order.stretches.shrink_to_fit();
        order
    }

    fn put(&mut self, record: RecordId, offset: Offset) {
        let place = &mut self.places[record as usize];
        if *place == NO_OFFSET {
            *place = offset;
        } else {
            self.moved.entry(record).or_insert_with(|| vec![*place]).push(offset);
        }
    }

    /// The rank of a known offset.
    ///
    /// # Panics
    /// When the offset is not known.
    pub fn rank(&self, offset: Offset) -> u32 {
        self.rank_of(offset).expect("the offset is known")
    }

    fn rank_of(&self, offset: Offset) -> Option<u32> {
        let nth = self.stretches.partition_point(|stretch| stretch.first <= offset);
        let stretch = self.stretches[nth.checked_sub(1)?];
        let end = self.stretches.get(nth).map_or(self.holders.len() as u32, |next| next.rank);
        let above = u32::try_from(offset.checked_sub(stretch.first)?).ok()?;
        stretch.rank.checked_add(above).filter(|rank| *rank < end)
    }

    /// The step from one known offset to another: the difference of their ranks.
    pub fn step(&self, from: Offset, to: Offset) -> i64 {
        if from.checked_add(1) == Some(to) {
            1
        } else {
            i64::from(self.rank(to)) - i64::from(self.rank(from))
        }
    }

    /// Known offsets between two known ones, exclusive, with the records known there.
    pub fn between(
        &self,
        from: Offset,
        to: Offset,
    ) -> impl ExactSizeIterator<Item = (Offset, &[RecordId])> {
        let (from, to) = (self.rank(from) + 1, self.rank(to));
        self.ranks(from..to.max(from))
    }

    /// Every known offset with the records known there.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Offset, &[RecordId])> {
        self.ranks(0..self.holders.len() as u32)
    }

    fn ranks(&self, ranks: Range<u32>) -> impl ExactSizeIterator<Item = (Offset, &[RecordId])> {
        let after = self.stretches.partition_point(|stretch| stretch.rank <= ranks.start);
        let mut nth = after.saturating_sub(1);
        ranks.map(move |rank| {
            if self.stretches.get(nth + 1).is_some_and(|next| next.rank == rank) {
                nth += 1;
            }
            (self.stretches[nth].offset_of(rank), self.at_rank(rank))
        })
    }

    /// Whether every known offset holds one record, and no record is known at two.
    pub fn is_plain(&self) -> bool {
        self.conflicts.is_empty() && self.moved.is_empty()
    }

    /// Offsets at which several records are known, with these.
    pub fn conflicts(&self) -> impl Iterator<Item = (Offset, &[RecordId])> {
        self.conflicts.iter().map(|(rank, holders)| {
            let nth = self.stretches.partition_point(|stretch| stretch.rank <= *rank) - 1;
            (self.stretches[nth].offset_of(*rank), holders.as_slice())
        })
    }

    /// The records known at an offset.
    pub fn holders(&self, offset: Offset) -> &[RecordId] {
        self.rank_of(offset).map_or(&[], |rank| self.at_rank(rank))
    }

    fn at_rank(&self, rank: u32) -> &[RecordId] {
        match self.conflicts.get(&rank) {
            Some(holders) => holders,
            None => slice::from_ref(&self.holders[rank as usize]),
        }
    }

    /// Where a record is known to be.
    pub fn place(&self, record: RecordId) -> Known {
        match self.places[record as usize] {
            NO_OFFSET => Known::Nowhere,
            _ if self.moved.contains_key(&record) => Known::Many,
            place => Known::At(place),
        }
    }

    /// The record's only known offset.
    pub fn sole(&self, record: RecordId) -> Option<Offset> {
        match self.place(record) {
            Known::At(offset) => Some(offset),
            Known::Nowhere | Known::Many => None,
        }
    }

    /// Every offset at which a record is known, from the lowest on.
    pub fn offsets_of(&self, record: RecordId) -> Vec<Offset> {
        match (self.moved.get(&record), self.places[record as usize]) {
            (Some(offsets), _) => offsets.clone(),
            (None, NO_OFFSET) => Vec::new(),
            (None, place) => vec![place],
        }
    }
}

impl Stretch {
    fn offset_of(self, rank: u32) -> Offset {
        self.first.saturating_add(Offset::from(rank - self.rank))
    }
}
