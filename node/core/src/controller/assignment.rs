//! Which brokers get the replicas of a new topic (rules 21, 84, 86).

use std::collections::BTreeSet;

use rand::Rng;

use super::machine::Controller;
use super::request::NewTopic;
use crate::error::{ErrorCode, Refusal};
use crate::rule::placement::{Demand, Site};
use crate::types::BrokerId;

/// One partition's replicas, and those of them that are live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) replicas: Vec<BrokerId>,
    pub(super) isr: Vec<BrokerId>,
}

impl Controller {
    /// The assignment of each partition, by the operator or by rule 86.
    pub(super) fn assign(
        &self,
        topic: &NewTopic,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Assignment>, Refusal> {
        let placed = if topic.assignments.is_empty() {
            self.assign_automatically(topic, rng)?
        } else {
            self.check_manual_assignment(topic)?
        };
        (0..).zip(placed).map(|(index, replicas)| self.with_isr(index, replicas)).collect()
    }

    /// How many partitions a topic is to have; none when their number is refused anyway.
    pub(super) fn partitions_of(&self, topic: &NewTopic) -> usize {
        let automatic =
            || or_default(topic.partitions, self.settings.num_partitions).max(0) as usize;
        if topic.assignments.is_empty() { automatic() } else { topic.assignments.len() }
    }

    fn assign_automatically(
        &self,
        topic: &NewTopic,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Vec<BrokerId>>, Refusal> {
        let partitions = or_default(topic.partitions, self.settings.num_partitions);
        let replicas = or_default(
            i32::from(topic.replication_factor),
            i32::from(self.settings.default_replication_factor),
        );
        if partitions <= 0 {
            let text = "the number of partitions is positive, or -1 for the default";
            return Err(Refusal::new(ErrorCode::InvalidPartitions, text));
        }
        let refuse = |text: String| Err(Refusal::new(ErrorCode::InvalidReplicationFactor, text));
        if replicas <= 0 {
            return refuse("the replication factor is positive, or -1 for the default".to_owned());
        }
        let sites = self.sites();
        if replicas as usize > sites.len() {
            let text = format!("{replicas} replicas need as many brokers: {} exist", sites.len());
            return refuse(text);
        }
        if sites.iter().all(|site| site.fenced) {
            return refuse("no broker is alive".to_owned());
        }
        let demand = Demand { partitions: partitions as usize, replicas: replicas as usize };
        Ok((self.rules.place)(&sites, demand, rng))
    }

    fn sites(&self) -> Vec<Site> {
        let site = |(&broker, entry): (&BrokerId, &crate::metadata::Broker)| Site {
            broker,
            rack: entry.rack.clone(),
            fenced: !entry.is_active(),
        };
        self.image.brokers.iter().map(site).collect()
    }

    fn check_manual_assignment(&self, topic: &NewTopic) -> Result<Vec<Vec<BrokerId>>, Refusal> {
        if topic.partitions != -1 || topic.replication_factor != -1 {
            let text = "with assignments, partitions and replication factor are both -1";
            return Err(Refusal::new(ErrorCode::InvalidRequest, text));
        }
        let mut assignments = topic.assignments.clone();
        assignments.sort();
        let indexes = assignments.iter().map(|(index, _)| *index);
        if !indexes.eq(0..assignments.len() as i32) {
            return Err(bad("partitions are numbered from 0 without a gap".to_owned()));
        }
        let factor = assignments[0].1.len();
        for (index, replicas) in &assignments {
            self.check_replicas(*index, replicas)?;
            if replicas.len() != factor {
                return Err(bad("all partitions have the same number of replicas".to_owned()));
            }
        }
        Ok(assignments.into_iter().map(|(_, replicas)| (self.rules.as_asked)(replicas)).collect())
    }

    fn check_replicas(&self, index: i32, replicas: &[BrokerId]) -> Result<(), Refusal> {
        if replicas.is_empty() {
            return Err(bad(format!("partition {index} has no replicas")));
        }
        let distinct: BTreeSet<&BrokerId> = replicas.iter().collect();
        if distinct.len() != replicas.len() {
            return Err(bad(format!("partition {index} names a broker twice")));
        }
        match distinct.iter().find(|id| !self.image.brokers.contains_key(id)) {
            Some(unknown) => Err(bad(format!("broker {unknown} is not registered"))),
            None => Ok(()),
        }
    }

    fn with_isr(&self, index: i32, replicas: Vec<BrokerId>) -> Result<Assignment, Refusal> {
        let live = |id: &BrokerId| self.image.is_active(*id);
        let isr: Vec<BrokerId> = replicas.iter().copied().filter(live).collect();
        if isr.is_empty() {
            return Err(bad(format!("no broker of partition {index} is alive")));
        }
        Ok(Assignment { replicas, isr })
    }
}

fn or_default(asked: i32, default: i32) -> i32 {
    if asked == -1 { default } else { asked }
}

fn bad(text: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidReplicaAssignment, text)
}
