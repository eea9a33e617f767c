//! Measurements beside the counts: how much was lost to what, what each acks level got.

use std::collections::BTreeMap;

use highwater_history::{Key, verdict::KeyLoss};
use serde_json::{Value, json};

use crate::{
    coverage::by_acks,
    finding::{Loss, Losses, Permission},
    index::records::Records,
    view::{KeyView, RunView},
};

/// Loss by key and cause, per claim that counts any.
pub type LossesByClaim = BTreeMap<String, Losses>;

/// All measurements by name.
pub fn of(
    run: &RunView<'_>,
    keys: &[KeyView<'_>],
    losses: LossesByClaim,
) -> BTreeMap<String, Value> {
    let mut metrics = BTreeMap::new();
    let by_acks: BTreeMap<_, _> = by_acks(keys, Records::is_acknowledged)
        .into_iter()
        .map(|(acks, count)| (acks.as_str(), count))
        .collect();
    metrics.insert("acknowledged-by-acks".to_owned(), json!(by_acks));
    metrics.insert("ok-read".to_owned(), json!(run.index.ok_read));
    metrics.insert("keys".to_owned(), json!(keys.len()));
    let value_bytes = run.evidence.manifest.as_ref().and_then(|m| m.workload.value_bytes);
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
