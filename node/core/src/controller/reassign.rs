//! New assignments: a new order of the same replicas (the first one is the preferred leader).

use std::collections::BTreeSet;

use super::change::Change;
use super::machine::Controller;
use super::reply::OngoingReassignment;
use super::request::{PartitionRef, Reassignment};
use crate::error::{ErrorCode, Refusal};
use crate::types::BrokerId;

impl Controller {
    pub(super) fn alter_reassignments(
        &mut self,
        changes: Vec<Reassignment>,
    ) -> Vec<(PartitionRef, Result<(), Refusal>)> {
        let outcome = |change: Reassignment| {
            let result = self.reassign(&change);
            (change.partition, result)
        };
        changes.into_iter().map(outcome).collect()
    }

    fn reassign(&mut self, wanted: &Reassignment) -> Result<(), Refusal> {
        let (id, partition) = self.find(&wanted.partition)?;
        let Some(replicas) = &wanted.replicas else {
            let text = "there is no reassignment of this partition to cancel";
            return Err(Refusal::new(ErrorCode::NoReassignmentInProgress, text));
        };
        let distinct: BTreeSet<&BrokerId> = replicas.iter().collect();
        let held: BTreeSet<&BrokerId> = partition.state.replicas.iter().collect();
        let refuse = |text: &str| Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, text));
        if replicas.is_empty() {
            return refuse("a partition needs at least one replica");
        }
        if distinct.len() != replicas.len() {
            return refuse("a broker is named twice: replicas are on distinct brokers");
        }
        if let Some(unknown) = distinct.iter().find(|id| !self.image.brokers.contains_key(id)) {
            return refuse(&format!("broker {unknown} is not registered"));
        }
        if distinct != held {
            return refuse("this node changes the order of the replicas only, not the set");
        }
        let change = Change { replicas: replicas.clone(), ..Change::of(id, partition) };
        self.write_change(change);
        Ok(())
    }

    pub(super) fn list_reassignments(
        &self,
        filter: Option<&[PartitionRef]>,
    ) -> Vec<OngoingReassignment> {
        let ongoing = self.image.partitions().filter_map(|(id, partition)| {
            let topic = self.image.topics[&id.topic].name.clone();
            let moving = !partition.adding.is_empty() || !partition.removing.is_empty();
            moving.then(|| OngoingReassignment {
                partition: PartitionRef { topic, index: id.index },
                replicas: partition.state.replicas.clone(),
                adding: partition.adding.clone(),
                removing: partition.removing.clone(),
            })
        });
        let wanted = |one: &OngoingReassignment| filter.is_none_or(|f| f.contains(&one.partition));
        ongoing.filter(wanted).collect()
    }
}
