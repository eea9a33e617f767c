//! Who led each partition when: elections from the committed metadata log, else from samples.

use std::collections::BTreeMap;

use highwater_history::{
    LeaderEpoch, Manifest, NodeId, Offset, TimeNs,
    metadata::{ConfigFields, MetadataRecord, PartitionFields, TopicFields},
    promise::Promises,
};
use serde_json::Value;

use crate::{
    evidence::Evidence,
    index::{Index, KeyIndex},
};

/// One change of a partition's leader epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Where it is on record, for findings.
    pub on_record: String,
    /// When, nanoseconds of the run; exact to a millisecond in the metadata log.
    pub at: TimeNs,
    /// The epoch that began.
    pub epoch: LeaderEpoch,
    /// The leader, none while there is none.
    pub leader: Option<NodeId>,
    /// The leader before.
    pub previous: Option<NodeId>,
    /// Whether the leader was outside ISR and ELR.
    pub unclean: bool,
    /// Whether the topic's setting at that time allowed an unclean election.
    pub unclean_allowed: bool,
}

impl Election {
    /// One sentence for findings.
    pub fn describe(&self) -> String {
        let name = |node: Option<NodeId>| node.map_or("nobody".to_owned(), |n| format!("node {n}"));
        format!(
            "{}: epoch {}, leader {} after {}{}",
            self.on_record,
            self.epoch,
            name(self.leader),
            name(self.previous),
            if self.unclean { ", unclean" } else { "" },
        )
    }
}

/// Elections of every partition.
#[derive(Debug, Default)]
pub struct Leadership {
    by_partition: BTreeMap<(String, i32), Vec<Election>>,
    by_key: BTreeMap<String, Vec<Election>>,
    known: bool,
}

impl Leadership {
    /// What metadata log or samples say.
    pub fn of(evidence: &Evidence) -> Self {
        match &evidence.manifest {
            Some(manifest) if !evidence.metadata.is_empty() => {
                Self::of_metadata(&evidence.metadata, manifest)
            }
            _ => Self::of_samples(evidence),
        }
    }

    fn of_metadata(records: &[MetadataRecord], manifest: &Manifest) -> Self {
        let mut replay = Replay::new(manifest);
        for record in records {
            replay.apply(record);
        }
        Self { by_partition: replay.elections, by_key: BTreeMap::new(), known: true }
    }

    fn of_samples(evidence: &Evidence) -> Self {
        let mut leadership = Self::default();
        for (sample, state) in evidence.partition_samples() {
            leadership.known = true;
            let elections = leadership.by_key.entry(state.key.to_string()).or_default();
            let previous = elections.last();
            if previous.is_some_and(|last: &Election| last.epoch >= state.leader_epoch) {
                continue;
            }
            elections.push(Election {
                on_record: format!("sample of node {} at {} ns", sample.node, sample.answered),
                at: sample.answered,
                epoch: state.leader_epoch,
                leader: state.leader,
                previous: previous.and_then(|last| last.leader),
                unclean: false,
                unclean_allowed: false,
            });
        }
        leadership
    }

    /// Whether any source of elections was there.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The elections of a key in epoch order.
    pub fn of_key(&self, key: &KeyIndex) -> &[Election] {
        let partition = key.partition().unwrap_or(-1);
        let by_id = key.topic.as_ref().and_then(|topic| topic.topic_id.clone());
        let names = [by_id.as_deref(), Some(key.topic_name())];
        let found = names
            .into_iter()
            .flatten()
            .find_map(|name| self.by_partition.get(&(name.to_owned(), partition)));
        found.or_else(|| self.by_key.get(key.key.as_str())).map_or(&[], Vec::as_slice)
    }

    /// The election under which a node led at a time, the latest that the clocks allow; a deposed
    /// leader counts under its last one.
    pub fn led_at_latest(
        elections: &[Election],
        node: NodeId,
        at: TimeNs,
    ) -> Option<(usize, &Election)> {
        let led = |election: &Election| {
            election.leader == Some(node) && election.at <= at.saturating_add(CLOCK_SLACK_NS)
        };
        elections.iter().enumerate().rfind(|(_, election)| led(election))
    }

    /// The election under which a node surely led at a time already.
    pub fn led_at_earliest(
        elections: &[Election],
        node: NodeId,
        at: TimeNs,
    ) -> Option<(usize, &Election)> {
        let led = |election: &Election| {
            election.leader == Some(node) && election.at.saturating_add(CLOCK_SLACK_NS) <= at
        };
        elections.iter().enumerate().rfind(|(_, election)| led(election))
    }

    /// How many times leadership moved from one broker to another, over all keys.
    pub fn leader_changes(&self, index: &Index) -> u64 {
        let elections = index.keys.iter().flat_map(|key| self.of_key(key));
        elections.filter(|e| e.leader.is_some() && e.epoch > 0).count() as u64
    }
}

/// How far the controller's wall clock, in milliseconds, may be off the run's clock.
pub const CLOCK_SLACK_NS: TimeNs = 10_000_000;

/// What a replay of the metadata log has to remember.
struct Replay<'a> {
    manifest: &'a Manifest,
    promises: &'a Promises,
    topics: BTreeMap<String, String>,
    partitions: BTreeMap<(String, i32), Registration>,
    unclean_by_topic: BTreeMap<String, bool>,
    unclean_of_cluster: Option<bool>,
    /// By topic id and, where the name is known, by topic name.
    elections: BTreeMap<(String, i32), Vec<Election>>,
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
    fn new(manifest: &'a Manifest) -> Self {
        Self {
            manifest,
            promises: &manifest.promises,
            topics: BTreeMap::new(),
            partitions: BTreeMap::new(),
            unclean_by_topic: BTreeMap::new(),
            unclean_of_cluster: None,
            elections: BTreeMap::new(),
        }
    }

    /// Applies one record; records whose fields are not as expected say nothing.
    fn apply(&mut self, record: &MetadataRecord) {
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
        let set = self.unclean_by_topic.get(name).copied().or(self.unclean_of_cluster);
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
            next.epoch += 1;
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

/// The first offset of an epoch in a leader's log, by its epoch checkpoint: that of the smallest
/// epoch from there on, or the log's end when there is none.
pub fn start_of_epoch(epochs: &[(LeaderEpoch, Offset)], epoch: LeaderEpoch, end: Offset) -> Offset {
    let later = epochs.iter().filter(|(known, _)| *known >= epoch);
    later.map(|(_, start)| *start).min().unwrap_or(end)
}
