//! Topics and keys: a key is one partition of one topic identity.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::Acks;

/// A key's position in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

/// A topic that the workload wants, before it exists.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TopicPlan {
    /// Short name, unique in the run; the broker's name puts the run id before it.
    pub label: String,
    /// Number of partitions.
    pub partitions: u32,
    /// The acks level of every producer that writes it.
    pub acks: Acks,
    /// Settings that it needs, Kafka's names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configs: BTreeMap<String, String>,
}

impl TopicPlan {
    /// A topic without settings of its own.
    pub fn new(label: impl Into<String>, partitions: u32, acks: Acks) -> TopicPlan {
        TopicPlan { label: label.into(), partitions, acks, configs: BTreeMap::new() }
    }
}

/// A topic that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// What was planned.
    pub plan: TopicPlan,
    /// Its name at the brokers.
    pub name: String,
    /// Its id at the brokers; nil where they give none.
    pub id: Uuid,
    /// The key of its partition 0; the others follow.
    pub first_key: Key,
}

/// Every topic of the run and every key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    topics: Vec<Topic>,
    keys: Vec<(usize, i32)>,
    names: Vec<String>,
}

impl Catalog {
    /// Adds a topic; `name` and `id` are the brokers'. Its keys follow those already there.
    pub fn add(&mut self, plan: TopicPlan, name: String, id: Uuid) {
        let topic = self.topics.len();
        let first_key = Key(self.keys.len() as u32);
        for partition in 0..plan.partitions {
            self.keys.push((topic, partition as i32));
            self.names.push(format!("{}-{partition}", plan.label));
        }
        self.topics.push(Topic { plan, name, id, first_key });
    }

    /// Every topic, in the order added.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// Every key, ascending.
    pub fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        (0..self.keys.len() as u32).map(Key)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key's name in the history: topic label and partition.
    pub fn name(&self, key: Key) -> &str {
        &self.names[key.0 as usize]
    }

    /// The topic of a key.
    pub fn topic(&self, key: Key) -> &Topic {
        &self.topics[self.keys[key.0 as usize].0]
    }

    /// The partition number of a key within its topic.
    pub fn partition(&self, key: Key) -> i32 {
        self.keys[key.0 as usize].1
    }

    /// The keys of the topics that are written at `acks`.
    pub fn keys_at(&self, acks: Acks) -> Vec<Key> {
        self.keys().filter(|key| self.topic(*key).plan.acks == acks).collect()
    }

    /// The key of a partition of the topic with this name.
    pub fn by_name(&self, topic: &str, partition: i32) -> Option<Key> {
        self.find(partition, |t| t.name == topic)
    }

    /// The key of a partition of the topic with this id.
    pub fn by_id(&self, topic: Uuid, partition: i32) -> Option<Key> {
        self.find(partition, |t| t.id == topic)
    }

    /// The key that an answer speaks of: by the topic's id, else by its name.
    pub fn told(&self, id: Uuid, name: &str, partition: i32) -> Option<Key> {
        if id.is_nil() { self.by_name(name, partition) } else { self.by_id(id, partition) }
    }

    /// Whether every topic has an id.
    pub fn has_ids(&self) -> bool {
        self.topics.iter().all(|topic| !topic.id.is_nil())
    }

    fn find(&self, partition: i32, is: impl Fn(&Topic) -> bool) -> Option<Key> {
        let topic = self.topics.iter().find(|topic| is(topic))?;
        let nth = u32::try_from(partition).ok().filter(|nth| *nth < topic.plan.partitions)?;
        Some(Key(topic.first_key.0 + nth))
    }
}
