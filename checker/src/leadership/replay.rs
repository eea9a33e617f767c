//! Replays the committed metadata log as far as elections need it.

use std::collections::BTreeMap;

use highwater_history::{
    LeaderEpoch, Manifest, NodeId, Promise,
    metadata::{ConfigFields, MetadataRecord, PartitionFields, TopicFields},
    promise::Promises,
};
use serde_json::Value;

use super::Election;

/// What a replay of the metadata log has to remember.
pub(super) struct Replay<'a> {
    manifest: &'a Manifest,
    promises: &'a Promises,
    said: &'a Promise,
    topics: BTreeMap<String, String>,
    partitions: BTreeMap<(String, i32), Registration>,
    unclean_by_topic: BTreeMap<String, bool>,
    unclean_of_cluster: Option<bool>,
    /// By topic id and, where the name is known, by topic name.
    pub(super) elections: BTreeMap<(String, i32), Vec<Election>>,
}

/// A partition as the metadata log has it.
#[derive(Clone, Default)]
struct Registration {
    leader: Option<NodeId>,
    epoch: LeaderEpoch,
    isr: Vec<NodeId>,
    elr: Vec<NodeId>,
}

const UNCLEAN_SETTING: &str = "unclean.leader.election.enable";
const TOPIC_RESOURCE: i8 = 2;
const BROKER_RESOURCE: i8 = 4;
/// In a change record: the leader stays.
const LEADER_STAYS: i32 = -2;
const RECOVERING: i8 = 1;

impl<'a> Replay<'a> {
    /// Nothing applied yet.
    pub(super) fn new(manifest: &'a Manifest, said: &'a Promise) -> Self {
        Self {
            manifest,
            promises: &manifest.promises,
            said,
            topics: BTreeMap::new(),
            partitions: BTreeMap::new(),
            unclean_by_topic: BTreeMap::new(),
            unclean_of_cluster: None,
            elections: BTreeMap::new(),
        }
    }

    /// Applies one record; records whose fields are not as expected say nothing.
    pub(super) fn apply(&mut self, record: &MetadataRecord) {
        match record.kind.as_str() {
            "TopicRecord" => {
                if let Some(TopicFields { name, topic_id }) = fields(&record.fields) {
                    self.topics.insert(topic_id, name);
                }
            }
            "PartitionRecord" => {
                if let Some(fields) = fields(&record.fields) {
                    self.register(record, &fields);
                }
            }
            "PartitionChangeRecord" => {
                if let Some(fields) = fields(&record.fields) {
                    self.change(record, &fields);
                }
            }
            "ConfigRecord" => {
                if let Some(fields) = fields(&record.fields) {
                    self.configure(fields);
                }
            }
            _ => {}
        }
    }

    fn configure(&mut self, config: ConfigFields) {
        if config.name != UNCLEAN_SETTING {
            return;
        }
        let enabled = config.value.map(|value| value == "true");
        match (config.resource_type, config.resource_name) {
            (TOPIC_RESOURCE, topic) => match enabled {
                Some(enabled) => {
                    self.unclean_by_topic.insert(topic, enabled);
                }
                None => {
                    self.unclean_by_topic.remove(&topic);
                }
            },
            (BROKER_RESOURCE, name) if name.is_empty() => self.unclean_of_cluster = enabled,
            _ => {}
        }
    }

    fn unclean_allowed(&self, topic_id: &str) -> bool {
        let name = self.topics.get(topic_id).map_or("", String::as_str);
        let promised = || {
            let topic = self.promises.topics.get(name);
            topic.and_then(|promise| promise.unclean_election)
        };
        let set = self.said.unclean_election;
        let set = set.or_else(|| self.unclean_by_topic.get(name).copied());
        let set = set.or(self.unclean_of_cluster);
        set.or_else(promised).or(self.promises.run.unclean_election).unwrap_or(false)
    }

    fn register(&mut self, record: &MetadataRecord, fields: &PartitionFields) {
        let next = Registration {
            leader: node(fields.leader.unwrap_or(-1)),
            epoch: fields.leader_epoch.unwrap_or(0),
            isr: fields.isr.clone().unwrap_or_default(),
            elr: fields.elr.clone().unwrap_or_default(),
        };
        self.install(record, fields, next, false);
    }

    fn change(&mut self, record: &MetadataRecord, fields: &PartitionFields) {
        let at = (fields.topic_id.clone(), fields.partition);
        let Some(now) = self.partitions.get(&at).cloned() else { return };
        let mut next = now.clone();
        next.isr = fields.isr.clone().unwrap_or(next.isr);
        next.elr = fields.elr.clone().unwrap_or(next.elr);
        let elected = fields.leader.filter(|leader| *leader != LEADER_STAYS);
        let mut unclean = false;
        if let Some(leader) = elected {
            next.leader = node(leader);
            next.epoch = next.epoch.saturating_add(1);
            let outsider =
                next.leader.is_some_and(|n| !now.isr.contains(&n) && !now.elr.contains(&n));
            unclean = outsider || fields.recovery == Some(RECOVERING);
        }
        self.install(record, fields, next, unclean);
    }

    fn install(
        &mut self,
        record: &MetadataRecord,
        fields: &PartitionFields,
        next: Registration,
        unclean: bool,
    ) {
        let at = (fields.topic_id.clone(), fields.partition);
        let before = self.partitions.get(&at).map(|now| (now.epoch, now.leader));
        if before.is_none_or(|(epoch, _)| epoch != next.epoch) {
            let election = Election {
                on_record: format!("metadata record {}", record.offset),
                at: self.manifest.clocks.run_time_of_wall_ms(record.timestamp_ms),
                epoch: next.epoch,
                leader: next.leader,
                previous: before.and_then(|(_, leader)| leader),
                unclean,
                unclean_allowed: self.unclean_allowed(&fields.topic_id),
            };
            self.record_election(&at, election);
        }
        self.partitions.insert(at, next);
    }

    fn record_election(&mut self, at: &(String, i32), election: Election) {
        if let Some(name) = self.topics.get(&at.0) {
            let by_name = self.elections.entry((name.clone(), at.1)).or_default();
            by_name.push(election.clone());
        }
        self.elections.entry(at.clone()).or_default().push(election);
    }
}

fn fields<T: for<'de> serde::Deserialize<'de>>(fields: &Value) -> Option<T> {
    T::deserialize(fields).ok()
}

fn node(id: i32) -> Option<NodeId> {
    Some(id).filter(|id| *id >= 0)
}
