//! Creates and deletes topics.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::assignment::Assignment;
use super::machine::Controller;
use super::reply::CreatedTopic;
use super::request::{CreateTopics, NewTopic, TopicRef};
use super::topic_name::check_new_topic_name;
use crate::error::{ErrorCode, Refusal};
use crate::metadata::Record;
use crate::metadata::record::{ConfigRecord, DirectoryId, PartitionRecord, Resource, TopicRecord};
use crate::types::{BrokerId, LeaderEpoch, PartitionEpoch, PartitionId, TopicId};

/// How many partitions one request may create.
const MAX_PARTITIONS: usize = 10_000;

/// A topic that may be created as it stands.
struct Plan {
    assignments: Vec<Assignment>,
    configs: Vec<(String, String)>,
    replication_factor: i16,
}

impl Controller {
    pub(super) fn create_topics(
        &mut self,
        request: &CreateTopics,
    ) -> Vec<(String, Result<CreatedTopic, Refusal>)> {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for topic in &request.topics {
            *named.entry(&topic.name).or_default() += 1;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut budget = MAX_PARTITIONS;
        let mut results = Vec::new();
        for topic in &request.topics {
            let times = named.get_mut(topic.name.as_str()).expect("each name was counted");
            let result = match std::mem::take(times) {
                0 => continue, // a name given twice is answered once
                1 => self.create_topic(topic, request.validate_only, &mut budget, &mut rng),
                _ => {
                    let text = format!("{} is named more than once", topic.name);
                    Err(Refusal::new(ErrorCode::InvalidRequest, text))
                }
            };
            results.push((topic.name.clone(), result));
        }
        results
    }

    fn create_topic(
        &mut self,
        topic: &NewTopic,
        validate_only: bool,
        budget: &mut usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<CreatedTopic, Refusal> {
        let plan = self.plan_topic(topic, *budget, rng)?;
        let partitions = plan.assignments.len();
        *budget -= partitions;
        let mut created = CreatedTopic {
            id: TopicId::default(),
            partitions: partitions as i32,
            replication_factor: plan.replication_factor,
            configs: plan.configs.clone(),
        };
        if !validate_only {
            created.id = self.fresh_topic_id(rng);
            self.write_topic(topic.name.clone(), created.id, plan);
        }
        Ok(created)
    }

    fn plan_topic(
        &self,
        topic: &NewTopic,
        budget: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Plan, Refusal> {
        check_new_topic_name(&topic.name, &self.image)?;
        let configs = self.check_topic_configs(topic)?;
        // Before anything is placed: a request may ask for two thousand million partitions.
        if self.partitions_of(topic) > budget {
            let text = format!("a request creates at most {MAX_PARTITIONS} partitions");
            return Err(Refusal::new(ErrorCode::PolicyViolation, text));
        }
        let assignments = self.assign(topic, rng)?;
        let replication_factor = assignments.first().map_or(0, |a| a.replicas.len() as i16);
        Ok(Plan { assignments, configs, replication_factor })
    }

    fn check_topic_configs(&self, topic: &NewTopic) -> Result<Vec<(String, String)>, Refusal> {
        let resource = Resource::Topic(topic.name.clone());
        let mut checked = Vec::new();
        for (name, value) in &topic.configs {
            let Some(value) = value else {
                let text = format!("{name} needs a value");
                return Err(Refusal::new(ErrorCode::InvalidConfig, text));
            };
            self.check_config(&resource, name, value)?;
            checked.push((name.clone(), value.clone()));
        }
        Ok(checked)
    }

    fn write_topic(&mut self, name: String, id: TopicId, plan: Plan) {
        self.write(Record::Topic(TopicRecord { name: name.clone(), id }));
        for (property, value) in plan.configs {
            let resource = Resource::Topic(name.clone());
            self.write(Record::Config(ConfigRecord {
                resource,
                name: property,
                value: Some(value),
            }));
        }
        for (index, assignment) in (0..).zip(plan.assignments) {
            let directories = assignment.replicas.iter().map(|id| self.directory_of(*id)).collect();
            self.write(Record::Partition(PartitionRecord {
                partition: PartitionId { topic: id, index },
                leader: assignment.isr.first().copied(),
                replicas: assignment.replicas,
                isr: assignment.isr,
                directories,
                removing: Vec::new(),
                adding: Vec::new(),
                recovering: false,
                leader_epoch: LeaderEpoch(0),
                partition_epoch: PartitionEpoch(0),
                elr: Vec::new(),
                last_known_elr: Vec::new(),
            }));
        }
    }

    /// The directory of a broker that has one only; else the broker decides.
    fn directory_of(&self, broker: BrokerId) -> DirectoryId {
        let known = self.image.brokers.get(&broker).map(|broker| broker.log_dirs.as_slice());
        match known {
            Some([only]) => *only,
            _ => DirectoryId::default(),
        }
    }

    /// A random id (UUID version 4) that no topic has and that does not begin with '-' in base 64,
    /// which command lines would take for an option.
    fn fresh_topic_id(&self, rng: &mut ChaCha8Rng) -> TopicId {
        loop {
            let random = rng.random::<u128>() & !(0xf << 76) & !(0x3 << 62);
            let id = TopicId(random | 0x4 << 76 | 0x2 << 62);
            let begins_with_dash = id.0 >> 122 == 62;
            if !begins_with_dash && !self.image.topics.contains_key(&id) {
                return id;
            }
        }
    }

    pub(super) fn delete_topics(
        &mut self,
        topics: &[TopicRef],
    ) -> Vec<Result<(String, TopicId), Refusal>> {
        topics.iter().map(|topic| self.delete_topic(topic)).collect()
    }

    fn delete_topic(&mut self, topic: &TopicRef) -> Result<(String, TopicId), Refusal> {
        let id = match topic {
            TopicRef::Name(name) => self.image.topic_ids.get(name).copied().ok_or_else(|| {
                let text = format!("there is no topic {name}");
                Refusal::new(ErrorCode::UnknownTopicOrPartition, text)
            })?,
            TopicRef::Id(id) => *id,
        };
        let Some(topic) = self.image.topics.get(&id) else {
            return Err(Refusal::new(ErrorCode::UnknownTopicId, "there is no topic of this id"));
        };
        let name = topic.name.clone();
        self.write(Record::RemoveTopic(id));
        Ok((name, id))
    }
}
