//! The controller while this node leads the quorum: its outputs, its timer, its taking office.

use highwater_node_core::controller::{Controller, Input, Output, Settings};
use highwater_node_core::metadata::record::{
    Endpoint, FeatureLevelRecord, FeatureRange, RegisterControllerRecord,
};
use highwater_node_core::types::Offset;

use super::{config_rules, log};
use crate::config::NodeConfig;
use crate::effect::Effect;
use crate::features;
use crate::node::Node;

/// Kafka's number for the PLAINTEXT security protocol.
const PLAINTEXT: i16 = 0;

/// Everything below `end` is committed: takes office on the first commit of an epoch (rule 74).
pub(super) fn committed(node: &mut Node, end: Offset) {
    if node.controller().active.is_some() {
        step(node, Input::Committed(end));
    } else {
        activate(node);
    }
}

/// Gives the active controller an input and does what it wants.
pub(super) fn step(node: &mut Node, input: Input) {
    let now = node.kernel.now();
    let mut out = Vec::new();
    if let Some(controller) = &mut node.controller_mut().active {
        controller.step(now, input, &mut out);
    }
    obey(node, out);
}

fn activate(node: &mut Node) {
    let now = node.kernel.now();
    let role = node.controller();
    let settings = settings(&node.config);
    let tables = (node.rules, config_rules::table());
    let own = own_registration(node);
    let mut out = Vec::new();
    let image = role.image().clone();
    let controller = Controller::activate(now, settings, tables, image, own, &mut out);
    node.controller_mut().active = Some(controller);
    obey(node, out);
    if node.broker.is_none() {
        node.kernel.effect(Effect::Ready);
    }
}

fn obey(node: &mut Node, outputs: Vec<Output>) {
    for output in outputs {
        match output {
            Output::Append { base, records } => log::append_records(node, base, records),
            Output::Reply { token, reply } => {
                let then = node.controller_mut().asked.remove(&token);
                let then = then.expect("the controller replies once to what it was asked");
                then(node, reply);
            }
        }
    }
    set_timer(node);
}

/// One timer for whatever the controller waits for next.
fn set_timer(node: &mut Node) {
    let wake = node.controller().active.as_ref().and_then(Controller::next_wake);
    let timer = wake.map(|at| {
        node.kernel.at(at, |node| {
            node.controller_mut().tick = None;
            step(node, Input::Tick);
        })
    });
    let earlier = std::mem::replace(&mut node.controller_mut().tick, timer);
    if let Some(earlier) = earlier {
        node.kernel.cancel(earlier);
    }
}

fn settings(config: &NodeConfig) -> Settings {
    let level = |feature: &features::Feature| FeatureLevelRecord {
        name: feature.name.to_owned(),
        level: feature.max,
    };
    Settings {
        cluster_id: config.cluster_id.clone(),
        session_timeout_ms: config.broker_session_timeout_ms,
        num_partitions: config.num_partitions,
        default_replication_factor: config.default_replication_factor,
        unclean_election: config.unclean_leader_election_enable,
        unclean_interval_ms: config.unclean_leader_election_interval_ms,
        auto_rebalance: config.auto_leader_rebalance_enable,
        rebalance_interval_ms: config.leader_imbalance_check_interval_ms,
        initial_features: features::SUPPORTED.iter().map(level).collect(),
    }
}

fn own_registration(node: &Node) -> RegisterControllerRecord {
    let config = &node.config;
    let listeners = config.listeners.iter().filter(|l| config.is_controller_listener(&l.name));
    let endpoints = listeners.map(|listener| Endpoint {
        listener: listener.name.clone(),
        host: listener.advertised_host.clone(),
        port: listener.advertised_port,
        security_protocol: PLAINTEXT,
    });
    let feature = |feature: &features::Feature| FeatureRange {
        name: feature.name.to_owned(),
        min: feature.min,
        max: feature.max,
    };
    RegisterControllerRecord {
        controller: config.node_id,
        incarnation: node.controller().incarnation,
        endpoints: endpoints.collect(),
        features: features::SUPPORTED.iter().map(feature).collect(),
    }
}
