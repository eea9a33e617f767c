//! What each node said of each key, in order, with the process that said it.

use std::collections::BTreeMap;

use highwater_history::{
    Event, EventValue, Key, NodeId, TimeNs,
    samples::{PartitionState, ReplicaState, Said, Sample},
};

use crate::{evidence::Evidence, index::Index};

/// One answer.
#[derive(Debug)]
pub struct Told<'a, S> {
    /// Who said it.
    pub node: NodeId,
    /// Which of the node's processes said it, at least: the number rises wherever one may have
    /// ended, for what a process knew in memory is gone with it.
    pub process: u32,
    /// When the question left.
    pub asked: TimeNs,
    /// When the answer came; it was true at some instant from `asked` on.
    pub answered: TimeNs,
    /// What it said.
    pub state: &'a S,
}

impl<S> Told<'_, S> {
    /// The time of which it speaks.
    pub fn during(&self) -> (TimeNs, TimeNs) {
        (self.asked, self.answered)
    }

    /// Whether one process said both.
    pub fn is_same_process(&self, other: &Self) -> bool {
        (self.node, self.process) == (other.node, other.process)
    }
}

/// Answers by key; those of one node are in order of time.
#[derive(Debug, Default)]
pub struct Sayings<'a> {
    replicas: BTreeMap<Key, Vec<Told<'a, ReplicaState>>>,
    partitions: BTreeMap<Key, Vec<Told<'a, PartitionState>>>,
}

impl<'a> Sayings<'a> {
    /// Sorts the samples.
    pub fn of(evidence: &'a Evidence, index: &Index) -> Self {
        let ends = process_ends(index);
        let mut sayings = Self::default();
        let mut silences: BTreeMap<NodeId, u32> = BTreeMap::new();
        for sample in &evidence.samples {
            let Sample { asked, answered, node, said } = sample;
            let silences = silences.entry(*node).or_default();
            if let Said::Silent { .. } = said {
                *silences += 1;
                continue;
            }
            let ends = ends.get(node).map_or(0, |ends| ends.partition_point(|at| at <= answered));
            let (node, asked, answered) = (*node, *asked, *answered);
            let process = *silences + ends as u32;
            match said {
                Said::Replica(state) => {
                    let of_key = sayings.replicas.entry(state.key.clone()).or_default();
                    of_key.push(Told { node, process, asked, answered, state });
                }
                Said::Partition(state) => {
                    let of_key = sayings.partitions.entry(state.key.clone()).or_default();
                    of_key.push(Told { node, process, asked, answered, state });
                }
                Said::Silent { .. } => {}
            }
        }
        sayings
    }

    /// What replicas of a key said of themselves.
    pub fn replicas(&self, key: &Key) -> &[Told<'a, ReplicaState>] {
        self.replicas.get(key).map_or(&[], Vec::as_slice)
    }

    /// What nodes said of a key's leadership.
    pub fn partitions(&self, key: &Key) -> &[Told<'a, PartitionState>] {
        self.partitions.get(key).map_or(&[], Vec::as_slice)
    }
}

/// When processes of each node may have ended or begun: a fault names the node.
fn process_ends(index: &Index) -> BTreeMap<NodeId, Vec<TimeNs>> {
    let mut ends: BTreeMap<NodeId, Vec<TimeNs>> = BTreeMap::new();
    for event in index.others.iter().filter(|event| may_end_processes(event)) {
        for node in named_nodes(event) {
            let of_node = ends.entry(node).or_default();
            of_node.extend(began(event).into_iter().chain([event.time]));
        }
    }
    for times in ends.values_mut() {
        times.sort_unstable();
    }
    ends
}

/// What leaves processes as they are.
const SPARES_PROCESSES: [&str; 9] = [
    "cut",
    "isolate",
    "split",
    "slow-link",
    "reply-loss",
    "hold",
    "leader-move",
    "config-change",
    "pause",
];

fn may_end_processes(event: &Event) -> bool {
    let healed = match &event.value {
        EventValue::Other(value) => value.get("fault").and_then(|fault| fault.as_str()),
        _ => None,
    };
    !SPARES_PROCESSES.contains(&healed.unwrap_or(event.f.as_str()))
}

/// The nodes that an event of the nemesis names.
pub fn named_nodes(event: &Event) -> Vec<NodeId> {
    let EventValue::Other(value) = &event.value else { return Vec::new() };
    let listed = value.get("nodes").and_then(|nodes| nodes.as_array()).into_iter().flatten();
    let ids = listed.filter_map(|id| NodeId::try_from(id.as_i64()?).ok());
    let targets = value.get("targets").and_then(|nodes| nodes.as_array()).into_iter().flatten();
    ids.chain(targets.filter_map(|target| target.as_str()?.parse().ok())).collect()
}

/// When what an event of the nemesis tells of began.
pub fn began(event: &Event) -> Option<TimeNs> {
    let EventValue::Other(value) = &event.value else { return None };
    value.get("from").and_then(|from| from.as_u64())
}
