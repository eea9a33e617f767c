//! AlterPartition: the only way to change an ISR from outside (rules 21 to 23).

use std::collections::BTreeSet;

use super::change::Change;
use super::machine::Controller;
use super::reply::IsrOutcome;
use super::request::{AlterPartition, IsrChange};
use crate::error::{ErrorCode, Refusal};
use crate::metadata::Partition;
use crate::rule::isr_proposal::Proposer;
use crate::types::{BrokerId, PartitionState};

impl Controller {
    pub(super) fn alter_partition(
        &mut self,
        request: &AlterPartition,
    ) -> Result<Vec<IsrOutcome>, Refusal> {
        self.check_epoch(request.broker, request.broker_epoch)?;
        let outcome = |change: &IsrChange| IsrOutcome {
            partition: change.partition,
            result: self.change_isr(request.broker, change),
        };
        Ok(request.changes.iter().map(outcome).collect())
    }

    fn change_isr(
        &mut self,
        broker: BrokerId,
        change: &IsrChange,
    ) -> Result<PartitionState, ErrorCode> {
        let id = change.partition;
        let topic = self.image.topics.get(&id.topic).ok_or(ErrorCode::UnknownTopicId)?;
        let missing = ErrorCode::UnknownTopicOrPartition;
        let partition = topic.partitions.get(&id.index).ok_or(missing)?;
        self.check_isr_change(broker, partition, change)?;
        let isr = change.isr.iter().map(|(member, _)| *member).collect();
        let recovering = change.recovering;
        self.write_change(Change { isr, recovering, ..Change::of(id, partition) });
        let state = self.image.partition(id).expect("the change kept the partition").state.clone();
        debug_assert!(state.leader == Some(broker), "an ISR proposal never moves the leader");
        Ok(state)
    }

    fn check_isr_change(
        &self,
        broker: BrokerId,
        partition: &Partition,
        change: &IsrChange,
    ) -> Result<(), ErrorCode> {
        let state = &partition.state;
        let IsrChange { leader_epoch, partition_epoch, .. } = *change;
        (self.rules.check_proposer)(state, Proposer { broker, leader_epoch, partition_epoch })?;
        let members: BTreeSet<BrokerId> = change.isr.iter().map(|(member, _)| *member).collect();
        let assigned = members.iter().all(|member| state.replicas.contains(member));
        let distinct = members.len() == change.isr.len();
        if !assigned || !distinct || !members.contains(&broker) {
            return Err(ErrorCode::InvalidRequest);
        }
        let starts_recovery = change.recovering && !state.recovering;
        if starts_recovery || (change.recovering && members.len() > 1) {
            return Err(ErrorCode::InvalidRequest);
        }
        let eligible = |(member, epoch): &(BrokerId, _)| {
            (self.rules.may_be_in_isr)(self.image.brokers.get(member), *epoch)
        };
        if change.isr.iter().all(eligible) { Ok(()) } else { Err(ErrorCode::IneligibleReplica) }
    }
}
