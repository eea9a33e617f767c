//! Measurements beside the counts: how much was lost to what, what each acks level got, how long
//! keys waited.

use std::collections::BTreeMap;

use highwater_history::{
    Key,
    verdict::{AnomalyCounts, KeyLoss},
};
use serde_json::{Value, json};

use crate::{
    evidence::Evidence,
    finding::{Loss, Losses, Permission},
    fold::Tally,
    measured::{Measured, Wait},
};

/// Loss by key and cause, per claim that counts any.
pub type LossesByClaim = BTreeMap<String, Losses>;

/// All measurements by name.
pub fn of(
    evidence: &Evidence,
    tally: &Tally,
    losses: LossesByClaim,
    counted: AnomalyCounts,
) -> BTreeMap<String, Value> {
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
    metrics.extend(counted.into_iter().map(|(name, n)| (name, json!(n))));
    metrics.extend(waits(tally));
    metrics
}

/// How long keys waited: to be read, to acknowledge, to go on after the last fault.
fn waits(tally: &Tally) -> impl Iterator<Item = (String, Value)> {
    let Measured { read, lag_sum, unread, .. } = tally.measured;
    let Measured { lag, oldest_unread, unavailable, .. } = tally.measured;
    let Measured { sends_again, reads_again, sends_never, .. } = tally.measured;
    let shown = |wait: Option<Wait>| wait.map(|wait| shown(tally, wait));
    let recovered = [sends_again, reads_again, sends_never];
    let recovery = recovered.iter().any(Option::is_some).then(|| {
        json!({"sends": shown(sends_again), "reads": shown(reads_again),
               "not-again": shown(sends_never)})
    });
    let lags = (read + unread > 0).then(|| {
        let mean = lag_sum.checked_div(read);
        json!({"read": read, "mean_ns": mean, "longest": shown(lag), "unread": unread,
               "oldest-unread": shown(oldest_unread)})
    });
    let gap = shown(unavailable);
    let all = [("read-lag", lags), ("unavailability", gap), ("recovery", recovery)];
    all.into_iter().filter_map(|(name, said)| Some((name.to_owned(), without_nulls(said?))))
}

fn shown(tally: &Tally, wait: Wait) -> Value {
    let key = &tally.keys[wait.key as usize];
    let Wait { value, from, to, .. } = wait;
    json!({"key": key, "value": value, "ns": wait.ns(), "from_ns": from, "to_ns": to})
}

/// What was not measured is not named.
fn without_nulls(mut said: Value) -> Value {
    if let Value::Object(fields) = &mut said {
        fields.retain(|_, field| !field.is_null());
        fields.values_mut().for_each(|field| *field = without_nulls(field.take()));
    }
    said
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
