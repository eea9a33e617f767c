//! Passes on what nodes warn of when they start.

use std::{collections::BTreeMap, fs};

use super::{NodeId, NodePlan};
use crate::target::Target;

/// What the first lives of these nodes warn of, each said once with the nodes that say it.
pub(super) fn of<'a>(
    target: &dyn Target,
    nodes: impl Iterator<Item = &'a NodePlan>,
) -> Vec<String> {
    let mut who: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for node in nodes {
        let log = fs::read(node.folder.join("stderr.0.log")).unwrap_or_default();
        for warning in target.warnings(&String::from_utf8_lossy(&log)) {
            who.entry(warning).or_default().push(node.id);
        }
    }
    let line = |(warning, nodes): (String, Vec<NodeId>)| {
        let ids: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        let node = if ids.len() == 1 { "node" } else { "nodes" };
        format!("{node} {}: {warning}", ids.join(", "))
    };
    who.into_iter().map(line).collect()
}
