//! Replays the committed metadata log as far as judging needs it.

use std::collections::BTreeMap;

use highwater_history::{
    Manifest, NodeId, Promise, TimeNs,
    metadata::{
        BrokerChangeFields, ConfigFields, FeatureFields, MetadataRecord, PartitionFields,
        RegisterBrokerFields, TopicFields, UnregisterBrokerFields,
    },
};

use super::{
    BrokerState, Registration, Registry,
    settings::{BROKER_RESOURCE, Settings, TOPIC_RESOURCE},
};

/// What a replay of the metadata log has to remember.
pub(super) struct Replay<'a> {
    manifest: &'a Manifest,
    said: &'a Promise,
    topics: BTreeMap<String, String>,
    unclean_by_topic: BTreeMap<String, bool>,
    unclean_of_cluster: Option<bool>,
    elr_level: i16,
    brokers: BTreeMap<NodeId, Broker>,
    registry: Registry,
}

/// A broker as it is now.
#[derive(Clone, Copy, Default)]
struct Broker {
    fenced: bool,
    stopping: bool,
}

const UNCLEAN_SETTING: &str = "unclean.leader.election.enable";
const ELR_FEATURE: &str = "eligible.leader.replicas.version";
/// In a change record: the leader stays.
const LEADER_STAYS: i32 = -2;
const RECOVERING: i8 = 1;

impl<'a> Replay<'a> {
    /// Nothing applied yet.
    pub(super) fn new(manifest: &'a Manifest, said: &'a Promise) -> Self {
        let settings = Settings::new(manifest, said);
        Self {
            manifest,
            said,
            topics: BTreeMap::new(),
            unclean_by_topic: BTreeMap::new(),
            unclean_of_cluster: None,
            elr_level: 0,
            brokers: BTreeMap::new(),
            registry: Registry { settings, ..Registry::default() },
        }
    }

    /// What was found.
    pub(super) fn finish(self) -> Registry {
        self.registry
    }

    /// Applies one record; records whose fields are not as expected say nothing.
    pub(super) fn apply(&mut self, record: &MetadataRecord) {
        if let Some(TopicFields { name, topic_id }) = record.of_kind("TopicRecord") {
            self.topics.insert(topic_id, name);
        } else if let Some(fields) = record.of_kind("PartitionRecord") {
            self.register(record, &fields);
        } else if let Some(fields) = record.of_kind("PartitionChangeRecord") {
            self.change(record, &fields);
        } else if let Some(fields) = record.of_kind("ConfigRecord") {
            self.configure(record, fields);
        } else if let Some(FeatureFields { name, level }) = record.of_kind("FeatureLevelRecord") {
            if name == ELR_FEATURE {
                self.elr_level = level;
                self.registry.elr_enabled |= level > 0;
            }
        } else {
            self.apply_to_broker(record);
        }
    }

    fn apply_to_broker(&mut self, record: &MetadataRecord) {
        if let Some(fields) = record.of_kind("RegisterBrokerRecord") {
            let RegisterBrokerFields { broker, fenced, stopping } = fields;
            self.set_broker(record, broker, Broker { fenced, stopping });
        } else if let Some(fields) = record.of_kind("BrokerRegistrationChangeRecord") {
            let BrokerChangeFields { broker, fenced, stopping } = fields;
            let now = self.brokers.get(&broker).copied().unwrap_or_default();
            let fenced = if fenced == 0 { now.fenced } else { fenced > 0 };
            let stopping = now.stopping || stopping > 0;
            self.set_broker(record, broker, Broker { fenced, stopping });
        } else if let Some(fields) = record.of_kind("UnregisterBrokerRecord") {
            let UnregisterBrokerFields { broker } = fields;
            self.set_broker(record, broker, Broker { fenced: true, stopping: false });
        }
    }

    fn set_broker(&mut self, record: &MetadataRecord, node: NodeId, broker: Broker) {
        let state = BrokerState {
            record: record.offset,
            at: self.time_of(record),
            in_service: !broker.fenced && !broker.stopping,
        };
        self.brokers.insert(node, broker);
        self.registry.brokers.entry(node).or_default().push(state);
    }

    fn time_of(&self, record: &MetadataRecord) -> TimeNs {
        self.manifest.clocks.run_time_of_wall_ms(record.timestamp_ms)
    }

    fn configure(&mut self, record: &MetadataRecord, config: ConfigFields) {
        let at = self.time_of(record);
        self.registry.settings.set(at, &config);
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
        let promises = &self.manifest.promises;
        let name = self.topics.get(topic_id).map_or("", String::as_str);
        let promised = || promises.topics.get(name).and_then(|promise| promise.unclean_election);
        let set = self.said.unclean_election;
        let set = set.or_else(|| self.unclean_by_topic.get(name).copied());
        let set = set.or(self.unclean_of_cluster);
        let started_with = |node: &highwater_history::manifest::Node| {
            node.properties.get(UNCLEAN_SETTING).is_some_and(|value| value == "true")
        };
        let set =
            set.or_else(|| self.manifest.target.nodes.iter().any(started_with).then_some(true));
        set.or_else(promised).or(promises.run.unclean_election).unwrap_or(false)
    }

    fn register(&mut self, record: &MetadataRecord, fields: &PartitionFields) {
        let next = Registration {
            leader: node(fields.leader.unwrap_or(-1)),
            leader_epoch: fields.leader_epoch.unwrap_or(0),
            partition_epoch: fields.partition_epoch.unwrap_or(0),
            isr: fields.isr.clone().unwrap_or_default(),
            elr: fields.elr.clone().unwrap_or_default(),
            replicas: fields.replicas.clone().unwrap_or_default(),
            recovering: fields.recovery == Some(RECOVERING),
            elected: true,
            ..Registration::default()
        };
        self.install(record, fields, next);
    }

    fn change(&mut self, record: &MetadataRecord, fields: &PartitionFields) {
        let at = (fields.topic_id.clone(), fields.partition);
        let Some(now) = self.registry.partitions.get(&at).and_then(|states| states.last()) else {
            return;
        };
        let elected = fields.leader.filter(|leader| *leader != LEADER_STAYS);
        let leader = elected.map_or(now.leader, node);
        let outsider = leader.is_some_and(|n| !now.isr.contains(&n) && !now.elr.contains(&n));
        let next = Registration {
            leader,
            leader_epoch: now.leader_epoch.saturating_add(i32::from(elected.is_some())),
            partition_epoch: now.partition_epoch.saturating_add(1),
            isr: fields.isr.clone().unwrap_or_else(|| now.isr.clone()),
            elr: fields.elr.clone().unwrap_or_else(|| now.elr.clone()),
            replicas: fields.replicas.clone().unwrap_or_else(|| now.replicas.clone()),
            recovering: fields.recovery.map_or(now.recovering, |state| state == RECOVERING),
            elected: elected.is_some(),
            unclean: elected.is_some() && (outsider || fields.recovery == Some(RECOVERING)),
            ..Registration::default()
        };
        self.install(record, fields, next);
    }

    fn install(&mut self, record: &MetadataRecord, fields: &PartitionFields, next: Registration) {
        let is_out = |node: &&NodeId| {
            let broker = self.brokers.get(node).copied().unwrap_or_default();
            broker.fenced || broker.stopping
        };
        let next = Registration {
            record: record.offset,
            at: self.time_of(record),
            unclean_allowed: self.unclean_allowed(&fields.topic_id),
            elr_enabled: self.elr_level > 0,
            out_of_service: next.isr.iter().filter(is_out).copied().collect(),
            ..next
        };
        let partitions = &mut self.registry.partitions;
        if let Some(name) = self.topics.get(&fields.topic_id) {
            partitions.entry((name.clone(), fields.partition)).or_default().push(next.clone());
        }
        partitions.entry((fields.topic_id.clone(), fields.partition)).or_default().push(next);
    }
}

fn node(id: i32) -> Option<NodeId> {
    Some(id).filter(|id| *id >= 0)
}
