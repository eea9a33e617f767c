//! Faults that may cost a node what it had written, and what they did cost it.

use std::collections::BTreeMap;

use highwater_history::{Event, EventValue, NodeId, TimeNs};
use serde_json::Value;

use crate::{
    index::Index,
    told::{began, named_nodes},
};

/// What the nemesis does that may cost a node data which it had written.
const DATA_LOSS: [&str; 6] =
    ["power-loss", "wipe", "torn-write", "bit-flip", "truncation", "lying-fsync"];

/// What a fault did to one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLoss {
    /// The fault's name.
    pub fault: String,
    /// Index of its event.
    pub event: u64,
    /// The node.
    pub node: NodeId,
    /// The time in which it struck.
    pub during: (TimeNs, TimeNs),
    /// Bytes that were cut, by partition (`TOPIC-PARTITION`); none where nobody counted.
    pub cut: Option<BTreeMap<String, u64>>,
}

impl DataLoss {
    /// Whether it took everything that the node had.
    pub fn is_wipe(&self) -> bool {
        self.fault == "wipe"
    }

    /// Whether it took what had not been synced.
    pub fn is_power_loss(&self) -> bool {
        self.fault == "power-loss"
    }

    /// For findings.
    pub fn describe(&self) -> String {
        format!("{} of node {} (event {})", self.fault, self.node, self.event)
    }
}

/// Every loss of a run, in order of time.
pub fn of(index: &Index) -> Vec<DataLoss> {
    let acts = index.others.iter().filter(|event| DATA_LOSS.contains(&event.f.as_str()));
    acts.flat_map(|event| named_nodes(event).into_iter().map(|node| of_node(event, node))).collect()
}

fn of_node(event: &Event, node: NodeId) -> DataLoss {
    DataLoss {
        fault: event.f.as_str().to_owned(),
        event: event.index,
        node,
        during: (began(event).unwrap_or(event.time).min(event.time), event.time),
        cut: cut_of(event, node),
    }
}

fn cut_of(event: &Event, node: NodeId) -> Option<BTreeMap<String, u64>> {
    let EventValue::Other(value) = &event.value else { return None };
    let of_node = value.get("cut")?.get(node.to_string())?.as_object()?;
    let bytes = |(partition, cut): (&String, &Value)| {
        Some((partition.clone(), cut.get("bytes")?.as_u64()?))
    };
    Some(of_node.iter().filter_map(bytes).collect())
}
