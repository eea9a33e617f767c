//! Creates and deletes topics.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::assignment::Assignment;
use super::machine::Controller;
use super::reply::CreatedTopic;
use super::request::{CreateTopics, NewTopic, TopicRef};
use super::topic_name::{SimilarNames, check_new_topic_name};
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

/// What the topics of one request share.
struct Creation {
    validate_only: bool,
    similar: SimilarNames,
    rng: ChaCha8Rng,
}

impl Controller {
    pub(super) fn create_topics(
        &mut self,
        request: &CreateTopics,
    ) -> Vec<(String, Result<CreatedTopic, Refusal>)> {
        // Before anything is looked at: a request may ask for two thousand million partitions.
        let partitions = request.topics.iter().map(|topic| self.partitions_of(topic));
        if partitions.fold(0, usize::saturating_add) > MAX_PARTITIONS {
            return request.topics.iter().map(|topic| (topic.name.clone(), too_many())).collect();
        }
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for topic in &request.topics {
            *named.entry(&topic.name).or_default() += 1;
        }
        let mut creation = Creation {
            validate_only: request.validate_only,
            similar: SimilarNames::of(&self.image),
            rng: ChaCha8Rng::seed_from_u64(request.seed),
        };
        let mut results = Vec::new();
        for topic in &request.topics {
            let times = named.get_mut(topic.name.as_str()).expect("each name was counted");
            let result = match std::mem::take(times) {
                0 => continue, // a name given twice is answered once
                1 => self.create_topic(topic, &mut creation),
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
        creation: &mut Creation,
    ) -> Result<CreatedTopic, Refusal> {
        let plan = self.plan_topic(topic, creation)?;
        let mut created = CreatedTopic {
            id: TopicId::default(),
            partitions: plan.assignments.len() as i32,
            replication_factor: plan.replication_factor,
            configs: plan.configs.clone(),
        };
        if !creation.validate_only {
            created.id = self.fresh_topic_id(&mut creation.rng);
            creation.similar.add(&topic.name);
            self.write_topic(topic.name.clone(), created.id, plan);
        }
        Ok(created)
    }

    fn plan_topic(&self, topic: &NewTopic, creation: &mut Creation) -> Result<Plan, Refusal> {
        check_new_topic_name(&topic.name, &self.image, &creation.similar)?;
        let configs = self.check_topic_configs(topic)?;
        let assignments = self.assign(topic, &mut creation.rng)?;
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

    /// The results are in the order of `topics`. What is named more than once is not deleted.
    pub(super) fn delete_topics(
        &mut self,
        topics: &[TopicRef],
    ) -> Vec<Result<(String, TopicId), Refusal>> {
        let mut named: BTreeMap<&TopicRef, usize> = BTreeMap::new();
        let mut meant: BTreeMap<TopicId, usize> = BTreeMap::new();
        let found: Vec<_> = topics.iter().map(|topic| (topic, self.topic_id(topic))).collect();
        for (topic, found) in &found {
            *named.entry(topic).or_default() += 1;
            if let Ok(id) = found {
                *meant.entry(*id).or_default() += 1;
            }
        }
        let delete = |(topic, found): (&TopicRef, Result<TopicId, Refusal>)| {
            if named[topic] > 1 || found.as_ref().is_ok_and(|id| meant[id] > 1) {
                let text = "a topic is named more than once";
                return Err(Refusal::new(ErrorCode::InvalidRequest, text));
            }
            found.map(|id| self.delete_topic(id))
        };
        found.into_iter().map(delete).collect()
    }

    /// The identity of a topic that exists.
    fn topic_id(&self, topic: &TopicRef) -> Result<TopicId, Refusal> {
        match topic {
            TopicRef::Name(name) => self.image.topic_ids.get(name).copied().ok_or_else(|| {
                let text = format!("there is no topic {name}");
                Refusal::new(ErrorCode::UnknownTopicOrPartition, text)
            }),
            TopicRef::Id(id) if self.image.topics.contains_key(id) => Ok(*id),
            TopicRef::Id(_) => {
                Err(Refusal::new(ErrorCode::UnknownTopicId, "there is no topic of this id"))
            }
        }
    }

    fn delete_topic(&mut self, id: TopicId) -> (String, TopicId) {
        let name = self.image.topics[&id].name.clone();
        self.write(Record::RemoveTopic(id));
        (name, id)
    }
}

fn too_many<T>() -> Result<T, Refusal> {
    let text = format!("a request creates at most {MAX_PARTITIONS} partitions");
    Err(Refusal::new(ErrorCode::PolicyViolation, text))
}
