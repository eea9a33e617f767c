//! Writes a node's `server.properties` with Kafka's names.

use std::{collections::BTreeMap, fmt::Write};

use super::{ClusterPlan, Listener, NodePlan};

/// The text of a node's configuration: what the plan demands, then the run's own properties, which
/// win when both name a key.
#[must_use]
pub fn server_properties(plan: &ClusterPlan, node: &NodePlan) -> String {
    let mut all = planned(plan, node);
    all.extend(plan.properties_of(node));
    let mut text = String::new();
    for (key, value) in &all {
        writeln!(text, "{key}={value}").expect("writing into a string cannot fail");
    }
    text
}

fn planned(plan: &ClusterPlan, node: &NodePlan) -> BTreeMap<String, String> {
    let map = Listener::ALL.map(|listener| format!("{}:PLAINTEXT", listener.name()));
    let mut all = BTreeMap::from([
        ("cluster.id", plan.cluster_id.clone()),
        ("node.id", node.id.to_string()),
        ("process.roles", roles(node)),
        ("log.dirs", node.log_dir.display().to_string()),
        ("listeners", addresses(node, |place| place.real)),
        ("advertised.listeners", addresses(node, |place| place.proxy)),
        ("listener.security.protocol.map", map.join(",")),
        ("controller.listener.names", Listener::Controller.name().to_owned()),
        ("controller.quorum.voters", voters(plan)),
    ]);
    if node.roles.broker {
        all.insert("inter.broker.listener.name", Listener::Internal.name().to_owned());
    }
    all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Whether the harness stands on this property: who a node is, where it listens and writes.
#[must_use]
pub fn is_planned(key: &str) -> bool {
    const PLANNED: [&str; 11] = [
        "advertised.listeners",
        "cluster.id",
        "controller.listener.names",
        "controller.quorum.voters",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "log.dir",
        "log.dirs",
        "node.id",
        "process.roles",
    ];
    PLANNED.contains(&key)
}

fn roles(node: &NodePlan) -> String {
    let roles = [(node.roles.broker, "broker"), (node.roles.controller, "controller")];
    let names: Vec<&str> = roles.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    names.join(",")
}

fn addresses(node: &NodePlan, pick: impl Fn(&super::Place) -> std::net::SocketAddr) -> String {
    let each = node.listeners.iter().map(|(name, place)| (name.name(), pick(place)));
    each.map(|(name, address)| format!("{name}://{address}")).collect::<Vec<_>>().join(",")
}

/// Voters are named by their proxies, so that first contact is under the harness's rules too.
fn voters(plan: &ClusterPlan) -> String {
    let places = plan.controllers().filter_map(|node| {
        let place = node.place(Listener::Controller)?;
        Some(format!("{}@{}", node.id, place.proxy))
    });
    places.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{super::ControllerPlacement, ClusterPlan, is_planned, planned};
    use crate::ports::PortPool;

    #[test]
    fn everything_that_the_plan_writes_is_the_harness_s_own() {
        let folder = tempfile::TempDir::new().unwrap();
        let (placement, mut ports) = (ControllerPlacement::Combined, PortPool::new());
        let plan = ClusterPlan::new(folder.path(), "c", 1, placement, &mut ports).unwrap();
        for node in plan.nodes.values() {
            let written = planned(&plan, node);
            assert!(written.keys().all(|key| is_planned(key)), "{written:?}");
        }
    }
}
