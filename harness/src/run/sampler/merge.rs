//! Merges what nodes say into one view of the cluster.

use std::{collections::BTreeMap, sync::Arc};

use highwater_workloads::{Catalog, Key};

use super::node::Round;
use crate::{
    cluster::NodeId,
    nemesis::{ClusterView, Partition, PartitionView},
    run::asks::PartitionMetadata,
};

/// What one node said of one partition, and since when it says so.
#[derive(Debug, Clone)]
struct Saying {
    state: PartitionMetadata,
    since: u64,
}

/// The newest that every node said.
///
/// Of two sayings the one with the higher leader epoch is right. Under one epoch it is the one that
/// changed last: in-sync replicas change without a new epoch, and a node that is cut off keeps
/// saying what was true before.
#[derive(Debug)]
pub struct Merged {
    catalog: Arc<Catalog>,
    time_ns: u64,
    asked_ns: BTreeMap<NodeId, u64>,
    sayings: BTreeMap<(NodeId, Key), Saying>,
    brokers: BTreeMap<NodeId, (u64, Vec<i32>)>,
    replicas: BTreeMap<(Key, NodeId), (Option<i64>, Option<i64>)>,
    told_hw: BTreeMap<(Key, NodeId), i64>,
}

impl Merged {
    /// Nothing was said yet.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>) -> Merged {
        Merged {
            catalog,
            time_ns: 0,
            asked_ns: BTreeMap::new(),
            sayings: BTreeMap::new(),
            brokers: BTreeMap::new(),
            replicas: BTreeMap::new(),
            told_hw: BTreeMap::new(),
        }
    }

    /// Takes one node's round. A node that did not answer says nothing of its replicas.
    pub fn take(&mut self, round: &Round) {
        self.time_ns = self.time_ns.max(round.answered);
        self.replicas.retain(|(_, node), _| *node != round.node);
        for (key, marks) in &round.replicas {
            self.replicas.insert((*key, round.node), *marks);
            let told = marks.0.filter(|hw| *hw >= 0);
            self.told_hw.extend(told.map(|hw| ((*key, round.node), hw)));
        }
        let Some(metadata) = &round.metadata else { return };
        self.asked_ns.insert(round.node, round.asked);
        let known = self.brokers.entry(round.node).or_default();
        if known.1 != metadata.brokers {
            *known = (round.answered, metadata.brokers.clone());
        }
        for key in self.catalog.keys() {
            let name = (self.catalog.topic(key).name.clone(), self.catalog.partition(key));
            let Some(state) = metadata.partitions.get(&name) else { continue };
            let saying = self.sayings.entry((round.node, key));
            let fresh = Saying { state: state.clone(), since: round.answered };
            saying
                .and_modify(|old| {
                    if old.state != *state {
                        *old = fresh.clone();
                    }
                })
                .or_insert(fresh);
        }
    }

    /// The view that follows.
    #[must_use]
    pub fn view(&self, controller: Option<NodeId>) -> ClusterView {
        let newest = self.brokers.values().max_by_key(|(since, _)| *since);
        let live = newest.map(|(_, brokers)| brokers.iter().copied().map(NodeId).collect());
        ClusterView {
            time_ns: self.time_ns,
            asked_ns: self.asked_ns.clone(),
            live_brokers: live.unwrap_or_default(),
            controller,
            partitions: self.catalog.keys().filter_map(|key| self.partition(key)).collect(),
        }
    }

    fn partition(&self, key: Key) -> Option<(Partition, PartitionView)> {
        let sayings = self.sayings.iter().filter(|((_, said_of), _)| *said_of == key);
        let best = sayings
            .map(|(_, saying)| saying)
            .max_by_key(|saying| (saying.state.leader_epoch, saying.since))?;
        let nodes = |ids: &[i32]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        let leader = best.state.leader.map(NodeId);
        let of_key = self.replicas.iter().filter(|((of, _), _)| *of == key);
        let leo = of_key.filter_map(|((_, node), (_, leo))| Some((*node, (*leo)?))).collect();
        let told = self.told_hw.iter().filter(|((of, _), _)| *of == key);
        let told_hw = told.map(|((_, node), hw)| (*node, *hw)).collect();
        let leaders = leader.and_then(|leader| self.replicas.get(&(key, leader)));
        let view = PartitionView {
            leader,
            leader_epoch: best.state.leader_epoch,
            replicas: nodes(&best.state.replicas),
            isr: nodes(&best.state.isr),
            leo,
            high_watermark: leaders.and_then(|(hw, _)| *hw).filter(|hw| *hw >= 0),
            told_hw,
        };
        let topic = self.catalog.topic(key).name.clone();
        Some((Partition { topic, index: self.catalog.partition(key) }, view))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use highwater_history::event::Acks;
    use highwater_workloads::{Catalog, Key, topic::TopicPlan};

    use super::{Merged, Round};
    use crate::{
        cluster::NodeId,
        nemesis::ClusterView,
        run::asks::{ClusterMetadata, PartitionMetadata},
    };

    fn round(node: i32, answered: u64, leader: i32, epoch: i32, isr: &[i32]) -> Round {
        let state = PartitionMetadata {
            leader: Some(leader),
            leader_epoch: epoch,
            replicas: vec![1, 2, 3],
            isr: isr.to_vec(),
        };
        let metadata = ClusterMetadata {
            brokers: vec![1, 2, 3],
            partitions: BTreeMap::from([(("run-all".into(), 0), state)]),
            ..ClusterMetadata::default()
        };
        let replicas = BTreeMap::from([(Key(0), (Some(5), Some(9)))]);
        let metadata = Some(metadata);
        let (node, samples, asked) = (NodeId(node), Vec::new(), answered - 5);
        Round { node, samples, metadata, replicas, asked, answered }
    }

    fn merged(rounds: &[Round]) -> (i32, Vec<i32>) {
        let view = view(rounds);
        let seen = view.partitions.values().next().unwrap();
        (seen.leader.unwrap().0, seen.isr.iter().map(|node| node.0).collect())
    }

    fn view(rounds: &[Round]) -> ClusterView {
        let mut catalog = Catalog::default();
        let plan = TopicPlan::new("all", 1, Acks::All);
        catalog.add(plan, "run-all".into(), uuid::Uuid::nil());
        let mut merged = Merged::new(Arc::new(catalog));
        for round in rounds {
            merged.take(round);
        }
        merged.view(None)
    }

    #[test]
    fn a_node_is_known_from_its_own_question_on_and_no_other_s() {
        let mut silent = round(3, 40, 1, 5, &[1]);
        silent.metadata = None;
        let view = view(&[round(1, 10, 1, 5, &[1]), round(2, 30, 1, 5, &[1]), silent]);
        assert_eq!(view.time_ns, 40);
        assert_eq!(view.asked_ns, BTreeMap::from([(NodeId(1), 5), (NodeId(2), 25)]));
        assert!(view.asked_since(NodeId(2), 24) && !view.asked_since(NodeId(2), 25));
        assert!(!view.asked_since(NodeId(3), 0));
    }

    #[test]
    fn a_higher_leader_epoch_wins_however_old() {
        let rounds = [round(2, 10, 2, 6, &[2, 3]), round(1, 99, 1, 5, &[1, 2, 3])];
        assert_eq!(merged(&rounds), (2, vec![2, 3]));
    }

    #[test]
    fn under_one_epoch_the_last_change_wins_not_the_last_word() {
        let rounds = [
            round(1, 10, 1, 5, &[1, 2, 3]),
            round(2, 11, 1, 5, &[1, 2, 3]),
            round(1, 20, 1, 5, &[1]),
            round(2, 30, 1, 5, &[1, 2, 3]),
        ];
        assert_eq!(merged(&rounds), (1, vec![1]));
    }

    /// A dump before its restart must show what a replica may lose.
    #[test]
    fn a_silent_replica_keeps_the_high_watermark_that_it_told_last() {
        let mut silent = round(1, 20, 1, 5, &[]);
        (silent.metadata, silent.replicas) = (None, BTreeMap::new());
        let view = view(&[round(1, 10, 1, 5, &[1, 2]), round(2, 11, 2, 6, &[2]), silent]);
        let seen = view.partitions.values().next().unwrap();
        assert_eq!(seen.told_hw.get(&NodeId(1)), Some(&5));
        assert_eq!(seen.leo.get(&NodeId(1)), None);
    }
}
