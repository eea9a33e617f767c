//! Who led each partition when, from the committed metadata log or, without it, from samples.

use std::collections::BTreeMap;

use highwater_history::{
    Key, LeaderEpoch, NodeId, TimeNs,
    event::OpenTopic,
    manifest::Clocks,
    metadata::{MetadataRecord, PartitionFields, TopicFields},
    samples::{Said, Sample},
};
use serde::Deserialize;

/// In a metadata change: the leader stays.
const LEADER_STAYS: NodeId = -2;

/// One partition's leaders in order of time.
pub(crate) type Leadership = BTreeMap<Key, Vec<Span>>;

/// From when on who led; the next span ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Start, nanoseconds of the run.
    pub from_ns: TimeNs,
    /// The leader; none while the partition had none.
    pub leader: Option<NodeId>,
    /// Its epoch.
    pub epoch: LeaderEpoch,
}

/// Leaders as the controller committed them; times are the records' own, put on the run's clock.
/// Partitions that `topics` does not name are left out, unless it names none at all.
pub(crate) fn from_metadata(
    records: &[MetadataRecord],
    topics: &BTreeMap<Key, OpenTopic>,
    clocks: &Clocks,
) -> Leadership {
    let mut names = BTreeMap::new();
    let mut leaders = Leadership::new();
    for record in records {
        let at_ns = clocks.run_time_of_wall_ms(record.timestamp_ms);
        match record.kind.as_str() {
            "TopicRecord" => {
                if let Ok(topic) = TopicFields::deserialize(&record.fields) {
                    names.insert(topic.topic_id, topic.name);
                }
            }
            "PartitionRecord" | "PartitionChangeRecord" => {
                let Ok(fields) = PartitionFields::deserialize(&record.fields) else { continue };
                if let Some(key) = key_of(&fields, &names, topics) {
                    apply(leaders.entry(key).or_default(), &fields, at_ns);
                }
            }
            _ => {}
        }
    }
    leaders
}

/// The key of a partition; by topic id where the history says it, else by name.
fn key_of(
    fields: &PartitionFields,
    names: &BTreeMap<String, String>,
    topics: &BTreeMap<Key, OpenTopic>,
) -> Option<Key> {
    let name = names.get(&fields.topic_id)?;
    if topics.is_empty() {
        return Some(Key::of(name, fields.partition));
    }
    let is_it = |topic: &&OpenTopic| {
        topic.topic == *name
            && topic.partition == fields.partition
            && topic.topic_id.as_ref().is_none_or(|id| *id == fields.topic_id)
    };
    topics.values().find(is_it).map(|topic| topic.key.clone())
}

fn apply(spans: &mut Vec<Span>, fields: &PartitionFields, at_ns: TimeNs) {
    let Some(leader) = fields.leader.filter(|leader| *leader != LEADER_STAYS) else { return };
    let next = spans.last().map_or(0, |span| span.epoch.saturating_add(1));
    let epoch = fields.leader_epoch.unwrap_or(next);
    spans.push(Span { from_ns: at_ns, leader: (leader >= 0).then_some(leader), epoch });
}

/// Leaders as nodes told them: a newer epoch counts from the first answer that carried it.
pub(crate) fn from_samples(samples: &[Sample]) -> Leadership {
    let mut leaders = Leadership::new();
    for sample in samples {
        let Said::Partition(state) = &sample.said else { continue };
        let spans = leaders.entry(state.key.clone()).or_default();
        if spans.last().is_none_or(|span| span.epoch < state.leader_epoch) {
            spans.push(Span {
                from_ns: sample.answered,
                leader: state.leader,
                epoch: state.leader_epoch,
            });
        }
    }
    leaders
}
