//! Elections that someone asks for, and those that the clock brings (rules 27, 85).

use super::change::Change;
use super::machine::Controller;
use super::request::{ElectLeaders, ElectionKind, PartitionRef};
use crate::error::{ErrorCode, Refusal};
use crate::metadata::Partition;
use crate::rule::election::Aim;
use crate::types::PartitionId;

/// How many leaderships one periodic rebalance moves at most.
const MAX_MOVES: usize = 1000;

impl Controller {
    pub(super) fn elect_leaders(
        &mut self,
        request: ElectLeaders,
    ) -> Vec<(PartitionRef, Result<(), Refusal>)> {
        let kind = request.kind;
        let everywhere = request.partitions.is_none();
        let places = request.partitions.unwrap_or_else(|| self.all_partitions());
        let outcomes = places.into_iter().map(|place| {
            let result = self.elect_one(kind, &place);
            (place, result)
        });
        let needed = |outcome: &(PartitionRef, Result<(), Refusal>)| {
            let idle = outcome.1.as_ref().is_err_and(|r| r.code == ErrorCode::ElectionNotNeeded);
            !everywhere || !idle
        };
        outcomes.filter(needed).collect()
    }

    fn elect_one(&mut self, kind: ElectionKind, place: &PartitionRef) -> Result<(), Refusal> {
        let (id, partition) = self.find(place)?;
        let leader = partition.state.leader;
        let (needed, aim, failure) = match kind {
            ElectionKind::Preferred => (
                leader != partition.preferred(),
                Aim::Preferred,
                ErrorCode::PreferredLeaderNotAvailable,
            ),
            ElectionKind::Unclean => {
                (leader.is_none(), Aim::AnyUnclean, ErrorCode::EligibleLeadersNotAvailable)
            }
        };
        if !needed {
            let text = format!("{}-{} is led as asked", place.topic, place.index);
            return Err(Refusal::new(ErrorCode::ElectionNotNeeded, text));
        }
        let change = Change { aim, ..Change::of(id, partition) };
        if self.write_change(change) {
            return Ok(());
        }
        let text = format!("no replica of {}-{} may be elected", place.topic, place.index);
        Err(Refusal::new(failure, text))
    }

    /// Elections for leaderless partitions whose topic came to allow unclean ones (rule 85).
    pub(super) fn elect_uncleanly_where_allowed(&mut self) {
        for id in self.partition_ids(|partition| partition.state.leader.is_none()) {
            let change = self.change_with_aim(id);
            self.write_change(change);
        }
    }

    /// Brings leaderships back to the preferred replicas that are in sync.
    pub(super) fn rebalance(&mut self) {
        let away = |partition: &Partition| {
            let preferred = partition.preferred();
            partition.state.leader != preferred
                && preferred.is_some_and(|broker| partition.state.isr.contains(&broker))
        };
        for id in self.partition_ids(away).into_iter().take(MAX_MOVES) {
            let partition = self.image.partition(id).expect("the partition was just listed");
            let change = Change { aim: Aim::Preferred, ..Change::of(id, partition) };
            self.write_change(change);
        }
    }

    /// A partition by its topic's name.
    pub(super) fn find(&self, place: &PartitionRef) -> Result<(PartitionId, &Partition), Refusal> {
        let found = self.image.topic_named(&place.topic).and_then(|(topic, entry)| {
            let partition = entry.partitions.get(&place.index)?;
            Some((PartitionId { topic, index: place.index }, partition))
        });
        found.ok_or_else(|| {
            let text = format!("there is no partition {}-{}", place.topic, place.index);
            Refusal::new(ErrorCode::UnknownTopicOrPartition, text)
        })
    }

    /// The identities of all partitions that fit.
    pub(super) fn partition_ids(&self, fits: impl Fn(&Partition) -> bool) -> Vec<PartitionId> {
        self.image.partitions().filter(|(_, partition)| fits(partition)).map(|(id, _)| id).collect()
    }

    fn all_partitions(&self) -> Vec<PartitionRef> {
        let name = |id: PartitionId| self.image.topics[&id.topic].name.clone();
        let place = |id: PartitionId| PartitionRef { topic: name(id), index: id.index };
        self.image.partitions().map(|(id, _)| place(id)).collect()
    }
}
