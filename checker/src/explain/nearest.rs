//! The operations that were told of the places nearest to some: what lies before and behind a skip,
//! or shows that a poll went past a record.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Key, Offset,
    event::{Ack, EventKind, MicroOp, ReadRecord},
};

use super::unit::Unit;

/// Who told of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    /// A send that ended ok.
    Acknowledged,
    /// A poll that ended ok, before the finding's last event was over.
    Read,
    /// One that began later.
    ReadLater,
    /// A poll that ended otherwise.
    ReadInDoubt,
}

/// A key's place, who told of another one, and whether that lies above.
type Side = (Key, Offset, Told, bool);

/// The nearest found so far.
pub(super) struct Nearest<'a> {
    places: &'a BTreeMap<Key, BTreeSet<Offset>>,
    since: u64,
    found: BTreeMap<Side, (Offset, Unit)>,
}

impl<'a> Nearest<'a> {
    /// Looks around these places; `since` is the index from which on a poll counts as later.
    pub(super) fn new(places: &'a BTreeMap<Key, BTreeSet<Offset>>, since: u64) -> Self {
        Self { places, since, found: BTreeMap::new() }
    }

    /// Takes an operation if it was told of a nearer place than those before.
    pub(super) fn offer(&mut self, unit: &Unit) {
        let Some(done) = &unit.done else { return };
        let is_ok = done.kind == EventKind::Ok;
        let read = match is_ok {
            true if unit.id() > self.since => Told::ReadLater,
            true => Told::Read,
            false => Told::ReadInDoubt,
        };
        for op in unit.micro_ops() {
            match op {
                MicroOp::Send { key, ack: Ack::At(offset), .. } if is_ok => {
                    self.compare(unit, key, Told::Acknowledged, &[*offset]);
                }
                MicroOp::Send { .. } => {}
                MicroOp::Poll { records } => {
                    for (key, records) in records.iter().flatten() {
                        if self.places.contains_key(key) {
                            self.compare(unit, key, read, &offsets(records));
                        }
                    }
                }
            }
        }
    }

    fn compare(&mut self, unit: &Unit, key: &Key, told: Told, offsets: &[Offset]) {
        for place in self.places.get(key).into_iter().flatten().copied() {
            let below = offsets.iter().copied().filter(|at| *at < place).max();
            let above = offsets.iter().copied().filter(|at| *at > place).min();
            for (at, is_above) in [(below, false), (above, true)] {
                let Some(at) = at else { continue };
                let distance = at.abs_diff(place);
                let known = self.found.get(&(key.clone(), place, told, is_above));
                if known.is_none_or(|(known, _)| known.abs_diff(place) > distance) {
                    self.found.insert((key.clone(), place, told, is_above), (at, unit.clone()));
                }
            }
        }
    }

    /// The nearest of all.
    pub(super) fn found(self) -> impl Iterator<Item = Unit> {
        self.found.into_values().map(|(_, unit)| unit)
    }
}

fn offsets(records: &[ReadRecord]) -> Vec<Offset> {
    records.iter().filter_map(|record| record.0).collect()
}
