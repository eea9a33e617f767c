//! Follows the committed metadata: which partitions are kept here, as what, by which settings.

use std::collections::BTreeSet;

use highwater_log::Command;
use highwater_node_core::metadata::Delta;
use highwater_node_core::metadata::record::Resource;
use highwater_node_core::replica::{BrokerView, ReplicaConfig};
use highwater_node_core::types::{BrokerId, PartitionId};

use super::open::{drop_replica, host, set_strays_aside};
use super::outputs::completed;
use super::step;
use crate::config::TopicConfig;
use crate::node::Node;

/// Takes in what the metadata records that were just applied have changed.
///
/// Nothing happens before the metadata has this broker's own registration: an older state may name
/// it in a role of its earlier incarnation, and fetches carry the epoch of this one (rule 23).
pub(crate) fn apply_delta(node: &mut Node, delta: &Delta) {
    if node.broker().replicas.following {
        return apply(node, delta);
    }
    let registered = node.broker().image().brokers.get(&node.config.node_id);
    if registered.is_some_and(|own| own.epoch == node.broker().lifecycle.epoch()) {
        node.broker_mut().replicas.following = true;
        let image = node.broker().image();
        let everything = Delta {
            partitions: image.partitions().map(|(id, _)| id).collect(),
            brokers: image.brokers.keys().copied().collect(),
            ..Delta::default()
        };
        apply(node, &everything);
        set_strays_aside(node);
    }
}

fn apply(node: &mut Node, delta: &Delta) {
    for id in &delta.brokers {
        view_broker(node, *id);
    }
    for topic in delta.removed_topics.keys() {
        for id in node.broker().replicas.hosted.of_topic(*topic) {
            drop_replica(node, id);
        }
    }
    for id in &delta.partitions {
        follow_partition(node, *id);
    }
    reconfigure(node, &delta.configs);
}

/// What the replicas see of a broker is what is registered.
fn view_broker(node: &mut Node, id: BrokerId) {
    let view = node.broker().image().brokers.get(&id).map(|broker| BrokerView {
        epoch: broker.epoch,
        fenced: broker.fenced,
        shutting_down: broker.in_controlled_shutdown,
    });
    let brokers = &mut node.broker_mut().replicas.brokers;
    match view {
        Some(view) => brokers.insert(id, view),
        None => brokers.remove(&id),
    };
}

fn follow_partition(node: &mut Node, id: PartitionId) {
    let own = node.config.node_id;
    let image = node.broker().image();
    let assigned = image.partition(id).is_some_and(|p| p.state.replicas.contains(&own));
    if !assigned {
        return drop_replica(node, id);
    }
    if node.broker().replicas.hosted.get(id).is_some() {
        return apply_state(node, id);
    }
    let topic = image.topics.get(&id.topic).map(|topic| topic.name.clone());
    if let Some(topic) = topic {
        host(node, id, &topic);
    }
}

/// Tells the replica the newest committed state; one whose log is not open yet is told then.
pub(super) fn apply_state(node: &mut Node, id: PartitionId) {
    let state = node.broker().image().partition(id).map(|partition| partition.state.clone());
    if let Some(state) = state {
        step(node, id, |replica, env, out| replica.apply_metadata(env, state, out));
    }
}

/// The settings of a topic: its own, else the broker's, else the cluster's, else those of the file.
pub(super) fn config_of(node: &Node, topic: &str) -> TopicConfig {
    let image = node.broker().image();
    let own = Some(node.config.node_id);
    let layers = [Resource::Broker(None), Resource::Broker(own), Resource::Topic(topic.to_owned())];
    let set = layers.iter().filter_map(|resource| image.configs.get(resource));
    let defaults = node.config.replication.topic_defaults.clone();
    let mut config = set.fold(defaults, |config, properties| config.overridden(properties));
    config.log.flush_messages = (node.rules.flush_after)(config.log.flush_messages);
    config
}

fn reconfigure(node: &mut Node, changed: &BTreeSet<Resource>) {
    if changed.is_empty() {
        return;
    }
    let concerns = |topic: &str| {
        changed.iter().any(|resource| match resource {
            Resource::Topic(name) => name == topic,
            Resource::Broker(id) => id.is_none_or(|id| id == node.config.node_id),
            Resource::Other(..) => false,
        })
    };
    let hosted = node.broker().replicas.hosted.iter();
    let all: Vec<(PartitionId, TopicConfig)> = hosted
        .filter(|(_, hosted)| concerns(&hosted.topic))
        .map(|(id, hosted)| (id, config_of(node, &hosted.topic)))
        .collect();
    for (id, config) in all {
        configure(node, id, config);
    }
}

fn configure(node: &mut Node, id: PartitionId, config: TopicConfig) {
    let lag_limit_ms = node.config.replication.lag_time_max_ms;
    let replica_config = ReplicaConfig { lag_limit_ms, min_isr: config.min_insync_replicas };
    let Some(hosted) = node.broker_mut().replicas.hosted.get_mut(id) else { return };
    let log = hosted.log;
    let log_config = config.log;
    let log_changed = hosted.config.log != log_config;
    hosted.config = config;
    if log_changed {
        let command = Command::Configure { log, config: log_config };
        node.kernel.disk(command, move |node, done| {
            completed(node, id, log, done);
        });
    }
    step(node, id, |replica, env, out| replica.configure(env, replica_config, out));
}
