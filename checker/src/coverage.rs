//! Floors: whether enough happened for the run to say something.

use std::collections::BTreeMap;

use highwater_history::{event::Acks, outcome::FaultStatus, verdict::Coverage};

use crate::{
    evidence::Evidence,
    fold::Tally,
    index::records::{RecordId, Records},
    view::KeyView,
};

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

/// Records of some kind by the acks level that they were sent with.
pub fn by_acks(
    keys: &[KeyView<'_>],
    counts: impl Fn(&Records, RecordId) -> bool,
) -> BTreeMap<Acks, u64> {
    let mut by_acks = BTreeMap::new();
    for view in keys {
        let records = &view.key.records;
        for record in records.ids().filter(|record| counts(records, *record)) {
            *by_acks.entry(view.sent_acks(record)).or_default() += 1;
        }
    }
    by_acks
}
