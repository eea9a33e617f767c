//! An operator: creates the topic, and moves leaderships when it is told to.

use highwater_wire::messages::alter_partition_reassignments_request::{
    ReassignablePartition, ReassignableTopic,
};
use highwater_wire::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use highwater_wire::messages::elect_leaders_request::TopicPartitions;
use highwater_wire::messages::{
    AlterPartitionReassignmentsRequest, CreateTopicsRequest, ElectLeadersRequest, TopicName,
};
use highwater_wire::{ApiKey, ErrorCode, StrBytes};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Action, Input, TOPIC, Talk, answer_of, any_broker};

/// What the operator does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Create,
    Nothing,
    Reorder,
    Elect,
}

pub struct Admin {
    talk: Talk,
    partitions: usize,
    min_isr: usize,
    task: Task,
    /// Moves that are still to be made, the one that is under way included.
    moves: usize,
}

impl Admin {
    pub fn new(id: i32, partitions: usize, min_isr: usize) -> Admin {
        let talk = Talk::new(id, partitions);
        Admin { talk, partitions, min_isr, task: Task::Create, moves: 0 }
    }

    /// So many times: gives one partition a new order of replicas and asks for preferred elections.
    pub fn move_leaders(&mut self, moves: usize) {
        if self.task == Task::Nothing {
            self.task = Task::Reorder;
            self.moves = moves;
        }
    }

    pub fn step(&mut self, input: Input, rng: &mut ChaCha8Rng) -> Vec<Action> {
        match input {
            Input::Wake if self.talk.asked.is_some() => Vec::new(),
            Input::Wake => self.next(rng),
            Input::Lost => {
                self.talk.asked = None;
                vec![Action::Sleep { ms: 100 }]
            }
            Input::Answer(frame) => {
                let Some((api, version)) = self.talk.asked.take() else { return Vec::new() };
                let mut actions = vec![Action::Sleep { ms: 20 }];
                match (api, self.task) {
                    (ApiKey::CreateTopics, _) => {
                        let answer = answer_of::<CreateTopicsRequest>(version, frame);
                        let code = answer.topics[0].error_code;
                        if code == 0 || code == ErrorCode::TopicAlreadyExists.code() {
                            self.task = Task::Nothing;
                            actions.push(Action::TopicReady);
                        }
                    }
                    (_, Task::Reorder) => self.task = Task::Elect,
                    (_, Task::Elect) if self.moves > 1 => {
                        self.moves -= 1;
                        self.task = Task::Reorder;
                    }
                    _ => self.task = Task::Nothing,
                }
                actions
            }
        }
    }

    fn next(&mut self, rng: &mut ChaCha8Rng) -> Vec<Action> {
        let to = any_broker(rng);
        let topic = TopicName(StrBytes::from_static_str(TOPIC));
        let mut replicas: Vec<_> = [1, 2, 3].map(Into::into).to_vec();
        replicas.shuffle(rng);
        match self.task {
            Task::Nothing => Vec::new(),
            Task::Create => {
                let request = self.creation(topic);
                vec![self.talk.ask(to, 7, request, true)]
            }
            Task::Reorder => {
                let partition = ReassignablePartition::default().with_replicas(Some(replicas));
                let topic = ReassignableTopic::default()
                    .with_name(topic)
                    .with_partitions(vec![partition.with_partition_index(0)]);
                let request =
                    AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]);
                vec![self.talk.ask(to, 0, request, true)]
            }
            Task::Elect => {
                let partitions = (0..self.partitions as i32).collect();
                let topic =
                    TopicPartitions::default().with_topic(topic).with_partitions(partitions);
                let request = ElectLeadersRequest::default()
                    .with_election_type(0)
                    .with_topic_partitions(Some(vec![topic]));
                vec![self.talk.ask(to, 2, request, true)]
            }
        }
    }

    /// Each partition is led by another broker at first.
    fn creation(&self, topic: TopicName) -> CreateTopicsRequest {
        let assignment = |index: usize| {
            let broker = |turn: usize| (((index + turn) % 3) as i32 + 1).into();
            CreatableReplicaAssignment::default()
                .with_partition_index(index as i32)
                .with_broker_ids((0..3).map(broker).collect())
        };
        let min_isr = CreatableTopicConfig::default()
            .with_name(StrBytes::from_static_str("min.insync.replicas"))
            .with_value(Some(StrBytes::from_string(self.min_isr.to_string())));
        let topic = CreatableTopic::default()
            .with_name(topic)
            .with_num_partitions(-1)
            .with_replication_factor(-1)
            .with_assignments((0..self.partitions).map(assignment).collect())
            .with_configs(vec![min_isr]);
        CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(1_000)
    }
}
