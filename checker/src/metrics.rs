//! Measurements beside the counts: how much was lost to what, what each acks level got.

use std::collections::BTreeMap;

use highwater_history::verdict::{ForbiddenLoss, PermittedLoss};
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
    let bytes = |records: u64| value_bytes.map(|bytes| bytes.saturating_mul(records));
    let (mut permitted, mut forbidden) = (Vec::new(), Vec::new());
    for ((key, permission), loss) in losses.into_values().flatten() {
        let Loss { records, offsets, acknowledged, leaders } = loss;
        let (bytes, acknowledged_by) = (bytes(records), leaders.into_iter().collect());
        let (acknowledged_from_ns, acknowledged_to_ns) = acknowledged;
        match permission {
            Some(Permission { clause, fulfilled_by }) => permitted.push(PermittedLoss {
                key,
                clause,
                fulfilled_by,
                records,
                bytes,
                offsets,
                acknowledged_from_ns,
                acknowledged_to_ns,
                acknowledged_by,
            }),
            None => forbidden.push(ForbiddenLoss {
                key,
                records,
                bytes,
                offsets,
                acknowledged_from_ns,
                acknowledged_to_ns,
                acknowledged_by,
            }),
        }
    }
    let lost = [
        (PermittedLoss::METRIC, (!permitted.is_empty()).then(|| json!(permitted))),
        (ForbiddenLoss::METRIC, (!forbidden.is_empty()).then(|| json!(forbidden))),
    ];
    metrics.extend(lost.into_iter().filter_map(|(name, lost)| Some((name.to_owned(), lost?))));
    metrics
}
