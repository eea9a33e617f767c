//! Records with one key are on one partition of their topic.

use std::collections::BTreeMap;

use highwater_history::verdict::Finding;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::records::RecordId,
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
    decides: Decides::BeforeTheEnd,
    judge: Judge::Run(judge),
};

/// A record: its partition's number among the keys, and its own.
type Place = (u32, RecordId);

fn judge(run: &RunView<'_>, keys: &[KeyView<'_>], findings: &mut Findings) {
    if run.index.record_keys.is_empty() {
        findings.not_applicable("no record has a key of its own");
    }
    let mut places: BTreeMap<(&str, &str), BTreeMap<u32, RecordId>> = BTreeMap::new();
    for (record_key, id, record) in &run.index.record_keys {
        let view = &keys[*id as usize];
        if view.key.records.is_certain(*record, &run.index.ops) {
            let of_key = places.entry((view.key.topic_name(), record_key)).or_default();
            of_key.entry(*id).or_insert(*record);
        }
    }
    for ((topic, record_key), on) in places {
        let mut on: Vec<Place> = on.into_iter().collect();
        on.sort_by_key(|(id, record)| keys[*id as usize].key.records.sender(*record));
        if let [first, .., last] = on[..] {
            findings.rule("key-on-two-partitions", ruling(keys, first, last), || {
                describe(keys, (topic, record_key), &on)
            });
        }
    }
}

/// A topic that was given partitions has its keys elsewhere from then on.
fn ruling(keys: &[KeyView<'_>], first: Place, last: Place) -> Ruling {
    let begun = |place: Place| keys[place.0 as usize].states().first().map(|state| state.at);
    let sent = keys[first.0 as usize].sender(first.1).map(|sender| sender.invoked_at);
    match begun(last) {
        Some(at) if begun(first) < Some(at) && sent < Some(at) => {
            Ruling::Permitted(Permission::new("rule 39", "partitions were added to the topic"))
        }
        _ => Ruling::Forbidden,
    }
}

fn describe(keys: &[KeyView<'_>], (topic, record_key): (&str, &str), on: &[Place]) -> Finding {
    let name = |(id, record): &Place| {
        let key = keys[*id as usize].key;
        format!("{} of {}", key.records.value(*record), key.key)
    };
    let names: Vec<String> = on.iter().map(name).collect();
    let senders = on.iter().filter_map(|(id, record)| keys[*id as usize].sender(*record));
    let (id, record) = on[0];
    Finding {
        key: Some(keys[id as usize].key.key.clone()),
        value: Some(keys[id as usize].key.records.value(record)),
        rule: 39,
        evidence: "D19".to_owned(),
        events: senders.flat_map(|sender| sender.events()).collect(),
        why: format!("records of {topic} with the key {record_key:?}: {}", names.join(", ")),
        ..Finding::default()
    }
}
