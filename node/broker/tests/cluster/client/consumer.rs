//! A consumer: tails every partition from the start.

use highwater_log::batch::Batches;
use highwater_wire::messages::fetch_request::{FetchPartition, FetchTopic};
use highwater_wire::messages::{FetchRequest, TopicName};
use highwater_wire::{ApiKey, StrBytes};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Action, Input, TOPIC, Talk, answer_of};

pub struct Consumer {
    talk: Talk,
    positions: Vec<i64>,
    /// The partition that is being fetched.
    at: usize,
    stale: bool,
}

impl Consumer {
    pub fn new(id: i32, partitions: usize) -> Consumer {
        let talk = Talk::new(id, partitions);
        Consumer { talk, positions: vec![0; partitions], at: 0, stale: true }
    }

    pub fn step(&mut self, input: Input, rng: &mut ChaCha8Rng) -> Vec<Action> {
        match input {
            Input::Wake if self.talk.asked.is_some() => Vec::new(),
            Input::Wake => vec![self.next(rng)],
            Input::Lost => {
                self.talk.asked = None;
                self.stale = true;
                vec![Action::Sleep { ms: rng.random_range(5..60) }]
            }
            Input::Answer(frame) => {
                let Some((api, version)) = self.talk.asked.take() else { return Vec::new() };
                let mut actions = Vec::new();
                if api == ApiKey::Metadata {
                    self.talk.take_metadata(version, frame);
                    self.stale = false;
                } else {
                    actions = self.take_records(version, frame);
                }
                actions.push(Action::Sleep { ms: rng.random_range(1..40) });
                actions
            }
        }
    }

    fn next(&mut self, rng: &mut ChaCha8Rng) -> Action {
        if self.stale {
            return self.talk.ask_metadata(rng);
        }
        self.at = (self.at + 1) % self.positions.len();
        let Some(leader) = self.talk.leaders[self.at] else {
            self.stale = true;
            return Action::Sleep { ms: 30 };
        };
        let partition = FetchPartition::default()
            .with_partition(self.at as i32)
            .with_fetch_offset(self.positions[self.at])
            .with_partition_max_bytes(1 << 16);
        let topic = FetchTopic::default()
            .with_topic(TopicName(StrBytes::from_static_str(TOPIC)))
            .with_partitions(vec![partition]);
        let request = FetchRequest::default()
            .with_replica_id((-1).into())
            .with_max_wait_ms(60)
            .with_min_bytes(1)
            .with_session_epoch(-1)
            .with_topics(vec![topic]);
        self.talk.ask(leader, 12, request, true)
    }

    fn take_records(&mut self, version: i16, frame: bytes::Bytes) -> Vec<Action> {
        let answer = answer_of::<FetchRequest>(version, frame);
        let Some(data) = answer.responses.first().and_then(|topic| topic.partitions.first()) else {
            self.stale = true;
            return Vec::new();
        };
        if data.error_code != 0 {
            self.stale = true;
            return Vec::new();
        }
        let partition = data.partition_index;
        let mut read = Vec::new();
        for batch in Batches::new(data.records.clone().unwrap_or_default()) {
            let batch = batch.expect("a node serves whole batches");
            let epoch = batch.header().leader_epoch;
            for record in batch.records(1 << 20).expect("records can be read") {
                let record = record.expect("a record can be read");
                let value = record.value.expect("producers write values");
                let value = u64::from_be_bytes(value.as_ref().try_into().expect("eight bytes"));
                let offset = record.offset;
                if offset >= self.positions[partition as usize] {
                    read.push(Action::Read { partition, offset, epoch, value });
                    self.positions[partition as usize] = offset + 1;
                }
            }
        }
        read
    }
}
