//! Builds the record of one partition's change: ISR, replicas, and the election that follows.

use super::machine::Controller;
use crate::metadata::record::{DirectoryId, PartitionChangeRecord, Resource};
use crate::metadata::{Partition, Record};
use crate::rule::election::{Aim, Candidates, Elected};
use crate::types::{BrokerId, PartitionId};

/// What shall become of a partition, before anyone is elected.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) id: PartitionId,
    pub(super) isr: Vec<BrokerId>,
    pub(super) elr: Vec<BrokerId>,
    pub(super) replicas: Vec<BrokerId>,
    pub(super) recovering: bool,
    pub(super) aim: Aim,
}

impl Change {
    /// No change yet: what the partition is.
    pub(super) fn of(id: PartitionId, partition: &Partition) -> Change {
        Change {
            id,
            isr: partition.state.isr.clone(),
            elr: partition.elr.clone(),
            replicas: partition.state.replicas.clone(),
            recovering: partition.state.recovering,
            aim: Aim::Any,
        }
    }
}

impl Controller {
    /// Writes the change, if it is one; whether it was.
    pub(super) fn write_change(&mut self, change: Change) -> bool {
        let record = self.build_change(change);
        let changes = record.is_some();
        if let Some(record) = record {
            self.write(Record::PartitionChange(record));
        }
        changes
    }

    /// The record that makes the change, with the outcome of the election; `None` when the
    /// partition stays as it is.
    fn build_change(&self, change: Change) -> Option<PartitionChangeRecord> {
        let partition = self.image.partition(change.id).expect("changes name existing partitions");
        let state = &partition.state;
        let is_active = |broker: BrokerId| self.image.is_active(broker);
        let candidates = Candidates {
            replicas: &change.replicas,
            isr: &change.isr,
            elr: &change.elr,
            last_known: &partition.last_known_elr,
            leader: state.leader,
            is_active: &is_active,
        };
        let elected = (self.rules.elect)(&candidates, change.aim);
        let (leader, isr, recovering) = match elected {
            Elected::Nobody => (None, change.isr, change.recovering),
            Elected::Clean(leader) => (Some(leader), change.isr, change.recovering),
            Elected::Unclean(leader) => (Some(leader), vec![leader], true),
        };
        // With ELR off the last ISR member stays: someone has to be waited for.
        let isr = if isr.is_empty() { state.isr.clone() } else { isr };
        let moved = change.replicas != state.replicas;
        let record = PartitionChangeRecord {
            partition: change.id,
            leader: (leader != state.leader).then_some(leader),
            isr: (isr != state.isr).then_some(isr),
            recovering: (recovering != state.recovering).then_some(recovering),
            elr: (change.elr != partition.elr).then_some(change.elr),
            directories: moved.then(|| directories(partition, &change.replicas)),
            replicas: moved.then_some(change.replicas),
            ..PartitionChangeRecord::default()
        };
        let nothing =
            PartitionChangeRecord { partition: change.id, ..PartitionChangeRecord::default() };
        (record != nothing).then_some(record)
    }

    /// What an election for this topic may do when no replica in sync is live (rule 27).
    pub(super) fn aim_for(&self, topic: &str) -> Aim {
        if self.allows_unclean(topic) { Aim::AnyUnclean } else { Aim::Any }
    }

    fn allows_unclean(&self, topic: &str) -> bool {
        const NAME: &str = "unclean.leader.election.enable";
        let topic = Resource::Topic(topic.to_owned());
        let set = self.image.config(&topic, NAME);
        let set = set.or_else(|| self.image.config(&Resource::Broker(None), NAME));
        set.map_or(self.settings.unclean_election, |value| value.eq_ignore_ascii_case("true"))
    }
}

/// The directories of the replicas in their new order.
fn directories(partition: &Partition, replicas: &[BrokerId]) -> Vec<DirectoryId> {
    let old = &partition.state.replicas;
    let directory = |broker: &BrokerId| {
        let at = old.iter().position(|known| known == broker);
        at.map_or(DirectoryId::default(), |at| partition.directories[at])
    };
    replicas.iter().map(directory).collect()
}
