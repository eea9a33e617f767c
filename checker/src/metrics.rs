//! Measurements beside the counts: how much was lost to what, what each acks level got.

use std::collections::BTreeMap;

use highwater_history::{Key, verdict::KeyLoss};
use serde_json::{Value, json};

use crate::{
    evidence::Evidence,
    finding::{Loss, Losses, Permission},
    fold::Tally,
};

/// Loss by key and cause, per claim that counts any.
pub type LossesByClaim = BTreeMap<String, Losses>;

/// All measurements by name.
pub fn of(evidence: &Evidence, tally: &Tally, losses: LossesByClaim) -> BTreeMap<String, Value> {
    let by_acks = tally.acknowledged_by_acks.iter();
    let by_acks: BTreeMap<_, _> = by_acks.map(|(acks, count)| (acks.as_str(), count)).collect();
    let mut metrics = BTreeMap::from([
        ("acknowledged-by-acks".to_owned(), json!(by_acks)),
        ("ok-read".to_owned(), json!(tally.ok_read)),
        ("keys".to_owned(), json!(tally.keys.len())),
    ]);
    let value_bytes = evidence.manifest.as_ref().and_then(|m| m.workload.value_bytes);
    let (mut permitted, mut forbidden) = (Vec::new(), Vec::new());
    for ((key, permission), loss) in losses.into_values().flatten() {
        let list = if permission.is_some() { &mut permitted } else { &mut forbidden };
        list.push(loss_of(key, permission, loss, value_bytes));
    }
    let lost = [(KeyLoss::PERMITTED, permitted), (KeyLoss::FORBIDDEN, forbidden)];
    let some = lost.into_iter().filter(|(_, losses)| !losses.is_empty());
    metrics.extend(some.map(|(name, losses)| (name.to_owned(), json!(losses))));
    metrics
}

fn loss_of(
    key: Key,
    permission: Option<Permission>,
    loss: Loss,
    value_bytes: Option<u64>,
) -> KeyLoss {
    let Loss { records, offsets, acknowledged, leaders } = loss;
    let (clause, fulfilled_by) = permission.map(|by| (by.clause, by.fulfilled_by)).unzip();
    let (acknowledged_from_ns, acknowledged_to_ns) = acknowledged;
    KeyLoss {
        key,
        clause,
        fulfilled_by,
        records,
        bytes: value_bytes.map(|bytes| bytes.saturating_mul(records)),
        offsets,
        acknowledged_from_ns,
        acknowledged_to_ns,
        acknowledged_by: leaders.into_iter().collect(),
    }
}
