//! Measurements beside the counts: how much was lost to what, what each acks level got.

use std::collections::BTreeMap;

use highwater_history::verdict::PermittedLoss;
use serde_json::{Value, json};

use crate::{
    coverage::by_acks,
    finding::{Loss, Permission},
    index::records::Records,
    view::{KeyView, RunView},
};

/// Permitted loss by key and cause, per claim that counts any.
pub type LossesByClaim = BTreeMap<String, BTreeMap<(highwater_history::Key, Permission), Loss>>;

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
    let lost: Vec<PermittedLoss> = losses
        .into_values()
        .flatten()
        .map(|((key, permission), loss)| PermittedLoss {
            key,
            clause: permission.clause,
            fulfilled_by: permission.fulfilled_by,
            records: loss.records,
            bytes: value_bytes.map(|bytes| bytes.saturating_mul(loss.records)),
            offsets: loss.offsets,
            acknowledged_from_ns: loss.acknowledged.0,
            acknowledged_to_ns: loss.acknowledged.1,
        })
        .collect();
    if !lost.is_empty() {
        metrics.insert(PermittedLoss::METRIC.to_owned(), json!(lost));
    }
    metrics
}
