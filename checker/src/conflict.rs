//! Offsets at which two values are known: what inconsistent-offsets counts and split-brain-write
//! explains.

use highwater_history::{Offset, Value};

use crate::{finding::Ruling, index::records::RecordId, replicas::Holds, view::KeyView};

/// Two or more values at one offset.
#[derive(Debug)]
pub struct Conflict {
    /// The offset.
    pub offset: Offset,
    /// The records that acknowledgements and polls place there.
    pub holders: Vec<RecordId>,
    /// What the final log holds there.
    pub survivor: Option<Value>,
}

/// Every conflict of a key, in offset order.
pub fn conflicts(view: &KeyView<'_>) -> Vec<Conflict> {
    let order = &view.key.order;
    let Some(log) = &view.log else {
        let conflict = |(offset, holders): (Offset, &[RecordId])| Conflict {
            offset,
            holders: holders.to_vec(),
            survivor: None,
        };
        return order.conflicts().map(conflict).collect();
    };
    let mut conflicts = Vec::new();
    for (offset, holders) in order.iter() {
        let survivor = (|| {
            let kept = holders.len() == 1 && log.place_of(holders[0]) == Some(offset);
            if kept || offset < log.from {
                return None;
            }
            match log.at(offset) {
                Holds::Value(value) => Some(value),
                Holds::Nothing | Holds::Unreadable => None,
            }
        })();
        let strange = survivor.is_some_and(|value| {
            holders.iter().all(|record| view.key.records.value(*record) != value)
        });
        if holders.len() > 1 || strange {
            conflicts.push(Conflict { offset, holders: holders.to_vec(), survivor });
        }
    }
    conflicts
}

impl Conflict {
    /// Every value that is known at the offset.
    pub fn values(&self, view: &KeyView<'_>) -> Vec<Value> {
        let records = &view.key.records;
        let mut values: Vec<_> = self.holders.iter().map(|id| records.value(*id)).collect();
        if let Some(value) = self.survivor.filter(|value| !values.contains(value)) {
            values.push(value);
        }
        values
    }

    /// Whether the conflict is allowed: every value but the one that stays may be gone.
    pub fn ruling(&self, view: &KeyView<'_>) -> Ruling {
        let rulings: Vec<Ruling> =
            self.holders.iter().map(|id| view.loss(*id, Some(self.offset))).collect();
        if view.log.is_none() {
            // Nothing tells which one stayed: what one answer permits is not forbidden.
            let answers = (0..rulings.len()).map(|at| all_but(Some(at), &rulings));
            return answers
                .reduce(|ruling, other| ruling.or_else(|| other))
                .expect("a conflict has holders");
        }
        all_but(self.stays(view, &rulings), &rulings)
    }

    /// The holder that stays: what the final log holds, else what was read, else one that nothing
    /// allows to be gone. None when the log holds a value that no holder has.
    fn stays(&self, view: &KeyView<'_>, rulings: &[Ruling]) -> Option<usize> {
        let records = &view.key.records;
        if let Some(value) = self.survivor {
            return self.holders.iter().position(|id| records.value(*id) == value);
        }
        let read = self.holders.iter().position(|id| records.is_read(*id));
        read.or_else(|| rulings.iter().position(|ruling| *ruling == Ruling::Forbidden)).or(Some(0))
    }
}

/// Whether all may be gone but the one that stays.
fn all_but(stays: Option<usize>, rulings: &[Ruling]) -> Ruling {
    let others = rulings.iter().enumerate().filter(|(at, _)| Some(*at) != stays);
    others
        .map(|(_, ruling)| ruling.clone())
        .reduce(Ruling::and)
        .expect("of two values at one offset one does not stay")
}
