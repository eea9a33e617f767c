//! Records with one key are on one partition of their topic.

use std::collections::BTreeMap;

use highwater_history::{TimeNs, Value, verdict::Finding};
use serde::{Deserialize, Serialize};

use super::{Decides, Entry, Judge, Need};
use crate::{
    across::{Across, Gather, Whole},
    finding::{Findings, Permission, Ruling},
    index::{KeyId, operations::OpId, records::RecordId},
    view::{KeyView, RunView},
};

/// Counts keys of records that are certain to be on two partitions or more: within a partition
/// alone is there an order (rule 39). That records with one key are in the order of their process
/// is judged by nonmonotonic-send, whatever their keys.
pub static ENTRY: Entry = Entry {
    rules: &[39],
    clauses: &[],
    evidence: &["D19"],
    anomalies: &["key-on-two-partitions"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Across(Across::of::<Affinity>()),
};

/// What one part knows of records' own keys.
#[derive(Serialize, Deserialize)]
struct Facts {
    /// Whether the part has any record with a key of its own.
    any: bool,
    /// The first certain record of each key on each of the part's partitions.
    places: Vec<Place>,
}

/// A record with a key of its own.
#[derive(Clone, Serialize, Deserialize)]
struct Place {
    topic: String,
    record_key: String,
    /// Its partition's number among the keys.
    key: KeyId,
    value: Value,
    /// The operation that sent it, its events and when it began.
    sender: OpId,
    events: Vec<u64>,
    sent: TimeNs,
    /// Since when the metadata log knows the partition.
    begun: Option<TimeNs>,
}

struct Affinity;

impl Gather for Affinity {
    type Facts = Facts;

    fn gather(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Facts {
        let views: BTreeMap<KeyId, &KeyView<'_>> =
            keys.iter().map(|view| (view.id, view)).collect();
        let mut firsts: BTreeMap<(&str, KeyId), RecordId> = BTreeMap::new();
        for (record_key, id, record) in &run.index.record_keys {
            if views[id].key.records.is_certain(*record, &run.index.ops) {
                firsts.entry((record_key, *id)).or_insert(*record);
            }
        }
        let place = |((record_key, id), record)| Place::of(views[&id], record_key, record);
        let any = !run.index.record_keys.is_empty();
        Facts { any, places: firsts.into_iter().filter_map(place).collect() }
    }

    fn judge(whole: &Whole<'_>, facts: Vec<Facts>, findings: &mut Findings) {
        if facts.iter().all(|part| !part.any) {
            findings.not_applicable("no record has a key of its own");
        }
        let mut places: Vec<Place> = facts.into_iter().flat_map(|part| part.places).collect();
        places.sort_by(|a, b| order(a).cmp(&order(b)));
        for of_key in places.chunk_by(|a, b| (&a.topic, &a.record_key) == (&b.topic, &b.record_key))
        {
            if let [first, .., last] = of_key {
                let ruling = ruling(first, last);
                findings.rule("key-on-two-partitions", ruling, || describe(whole, of_key));
            }
        }
    }
}

fn order(place: &Place) -> (&str, &str, OpId, KeyId) {
    (&place.topic, &place.record_key, place.sender, place.key)
}

impl Place {
    fn of(view: &KeyView<'_>, record_key: &str, record: RecordId) -> Option<Self> {
        let sender = view.sender(record)?;
        Some(Self {
            topic: view.key.topic_name().to_owned(),
            record_key: record_key.to_owned(),
            key: view.id,
            value: view.key.records.value(record),
            sender: view.key.records.sender(record)?,
            events: sender.events(),
            sent: sender.invoked_at,
            begun: view.states().first().map(|state| state.at),
        })
    }
}

/// A topic that was given partitions has its keys elsewhere from then on.
fn ruling(first: &Place, last: &Place) -> Ruling {
    match last.begun {
        Some(at) if first.begun < Some(at) && first.sent < at => {
            Ruling::Permitted(Permission::new("rule 39", "partitions were added to the topic"))
        }
        _ => Ruling::Forbidden,
    }
}

fn describe(whole: &Whole<'_>, on: &[Place]) -> Finding {
    let name = |place: &Place| format!("{} of {}", place.value, whole.key(place.key));
    let names: Vec<String> = on.iter().map(name).collect();
    let Place { topic, record_key, key, value, .. } = &on[0];
    Finding {
        key: Some(whole.key(*key).clone()),
        value: Some(*value),
        rule: 39,
        evidence: "D19".to_owned(),
        events: on.iter().flat_map(|place| place.events.iter().copied()).collect(),
        why: format!("records of {topic} with the key {record_key:?}: {}", names.join(", ")),
        ..Finding::default()
    }
}
