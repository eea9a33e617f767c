//! Floors: whether enough happened for the run to say something.

use std::collections::BTreeMap;

use highwater_history::{event::Acks, outcome::FaultStatus, verdict::Coverage};
use serde::{Deserialize, Serialize};

use crate::{evidence::Evidence, fold::Tally, index::records::RecordId, view::KeyView};

/// Every floor of the manifest's workload with what was got.
pub fn floors(evidence: &Evidence, tally: &Tally) -> Vec<Coverage> {
    let Some(manifest) = &evidence.manifest else { return Vec::new() };
    if manifest.workload.floors.is_empty() {
        return Vec::new();
    }
    let got = counted(evidence, tally);
    let floors = manifest.workload.floors.iter();
    floors
        .map(|floor| Coverage {
            floor: floor.floor.clone(),
            wanted: floor.wanted,
            got: got.get(&floor.floor).copied().unwrap_or(0),
        })
        .collect()
}

/// Everything that a floor may name.
fn counted(evidence: &Evidence, tally: &Tally) -> BTreeMap<String, u64> {
    let counts = &tally.counts;
    let mut got = BTreeMap::from([
        ("ops".to_owned(), counts.ops),
        ("ok".to_owned(), counts.ok),
        ("sent".to_owned(), counts.sent),
        ("acknowledged".to_owned(), counts.acknowledged),
        ("read".to_owned(), counts.read),
        ("ok-read".to_owned(), tally.ok_read),
        ("leader-changes".to_owned(), tally.leader_changes),
        ("keys-sent".to_owned(), tally.active.sent),
        ("keys-acknowledged".to_owned(), tally.active.acknowledged),
        ("keys-read".to_owned(), tally.active.read),
    ]);
    for (acks, count) in &tally.acknowledged_by_acks {
        got.insert(format!("acknowledged.{}", acks.as_str()), *count);
    }
    for (acks, count) in &tally.sent_by_acks {
        got.insert(format!("sent.{}", acks.as_str()), *count);
    }
    if let Some(outcome) = &evidence.outcome {
        let acted = outcome.faults.iter().filter(|fault| fault.status == FaultStatus::Installed);
        for fault in acted {
            *got.entry("faults".to_owned()).or_default() += 1;
            *got.entry(format!("fault.{}", fault.kind)).or_default() += 1;
        }
    }
    got
}

/// How many keys something happened to at all: a run that left some alone says nothing of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveKeys {
    /// Keys that something was sent to.
    pub sent: u64,
    /// Keys of which a send was acknowledged.
    pub acknowledged: u64,
    /// Keys of which an ok poll returned something.
    pub read: u64,
}

impl ActiveKeys {
    /// Counts keys.
    pub fn of(keys: &[KeyView<'_>]) -> Self {
        let mut active = Self::default();
        for records in keys.iter().map(|view| &view.key.records) {
            let any = |is_so: &dyn Fn(RecordId) -> bool| u64::from(records.ids().any(is_so));
            active.sent += any(&|record| records.sender(record).is_some());
            active.acknowledged += any(&|record| records.is_acknowledged(record));
            active.read += any(&|record| records.is_ok_read(record));
        }
        active
    }

    /// Of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            acknowledged: self.acknowledged + other.acknowledged,
            read: self.read + other.read,
        }
    }
}

/// Records by the acks level that they were sent with.
#[derive(Default)]
pub struct ByAcks {
    /// Sent.
    pub sent: BTreeMap<Acks, u64>,
    /// Acknowledged.
    pub acknowledged: BTreeMap<Acks, u64>,
}

/// Counts the records of keys.
pub fn by_acks(keys: &[KeyView<'_>]) -> ByAcks {
    let mut by_acks = ByAcks::default();
    for view in keys {
        let records = &view.key.records;
        // Neighbours are of one operation, or at least of one kind.
        let mut last: Option<(Acks, u64, u64)> = None;
        for record in &view.key.sends {
            let acks = view.sent_acks(*record);
            let acknowledged = u64::from(records.is_acknowledged(*record));
            match &mut last {
                Some((known, sent, of_them)) if *known == acks => {
                    *sent += 1;
                    *of_them += acknowledged;
                }
                _ => by_acks.add(last.replace((acks, 1, acknowledged))),
            }
        }
        by_acks.add(last);
    }
    by_acks
}

impl ByAcks {
    fn add(&mut self, counted: Option<(Acks, u64, u64)>) {
        let Some((acks, sent, acknowledged)) = counted else { return };
        *self.sent.entry(acks).or_default() += sent;
        if acknowledged > 0 {
            *self.acknowledged.entry(acks).or_default() += acknowledged;
        }
    }
}
