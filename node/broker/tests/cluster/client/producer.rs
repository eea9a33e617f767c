//! A producer: one batch at a time, acks 0, 1 or all, idempotent or not.

use highwater_log::batch::BatchBuilder;
use highwater_node_core::types::Time;
use highwater_wire::messages::produce_request::{PartitionProduceData, TopicProduceData};
use highwater_wire::messages::{
    InitProducerIdRequest, InitProducerIdResponse, ProduceRequest, TopicName,
};
use highwater_wire::{ApiKey, ErrorCode, StrBytes};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::net::Place;
use super::{Action, Input, TOPIC, Talk, answer_of, any_broker};

/// How long a batch is tried before it is given up.
const DELIVERY_MS: u64 = 4_000;

/// A batch on its way.
struct Batch {
    partition: i32,
    values: Vec<u64>,
    sequence: i32,
    born: Time,
    attempts: u32,
    /// Where and when the last attempt went.
    sent: Option<(Place, Time)>,
}

pub struct Producer {
    talk: Talk,
    acks: i16,
    idempotent: bool,
    /// The producer id, and the next sequence of each partition.
    identity: Option<(i64, Vec<i32>)>,
    batch: Option<Batch>,
    next_value: u64,
    stale: bool,
    pub stopped: bool,
    /// When a batch was last acknowledged.
    pub last_ack: Option<Time>,
}

impl Producer {
    pub fn new(id: i32, partitions: usize, acks: i16, idempotent: bool) -> Producer {
        Producer {
            talk: Talk::new(id, partitions),
            acks,
            idempotent,
            identity: None,
            batch: None,
            next_value: 0,
            stale: true,
            stopped: false,
            last_ack: None,
        }
    }

    pub fn wants_all(&self) -> bool {
        self.acks == -1
    }

    pub fn step(&mut self, now: Time, input: Input, rng: &mut ChaCha8Rng) -> Vec<Action> {
        match input {
            Input::Wake if self.talk.asked.is_some() || self.stopped => Vec::new(),
            Input::Wake => vec![self.next(now, rng)],
            Input::Lost => {
                self.talk.asked = None;
                self.failed(now);
                self.stale = true;
                vec![Action::Sleep { ms: rng.random_range(5..40) }]
            }
            Input::Answer(frame) => {
                let Some((api, version)) = self.talk.asked.take() else { return Vec::new() };
                let mut actions = match api {
                    ApiKey::Metadata => {
                        self.talk.take_metadata(version, frame);
                        self.stale = false;
                        Vec::new()
                    }
                    ApiKey::InitProducerId => {
                        self.take_identity(answer_of::<InitProducerIdRequest>(version, frame));
                        Vec::new()
                    }
                    _ => self.take_outcome(now, version, frame),
                };
                actions.push(Action::Sleep { ms: rng.random_range(0..40) });
                actions
            }
        }
    }

    fn take_identity(&mut self, answer: InitProducerIdResponse) {
        if answer.error_code == 0 {
            let sequences = vec![0; self.talk.leaders.len()];
            self.identity = Some((answer.producer_id.0, sequences));
        }
    }

    fn next(&mut self, now: Time, rng: &mut ChaCha8Rng) -> Action {
        if self.stale {
            return self.talk.ask_metadata(rng);
        }
        if self.idempotent && self.identity.is_none() {
            let request = InitProducerIdRequest::default()
                .with_transactional_id(None)
                .with_transaction_timeout_ms(60_000);
            return self.talk.ask(any_broker(rng), 4, request, true);
        }
        if self.batch.is_none() {
            self.batch = Some(self.new_batch(now, rng));
        }
        let batch = self.batch.as_mut().expect("a batch was just made");
        let Some(leader) = self.talk.leaders[batch.partition as usize] else {
            self.stale = true;
            return Action::Sleep { ms: 30 };
        };
        batch.attempts += 1;
        batch.sent = Some((leader, now));
        let request = self.request();
        self.talk.ask(leader, 12, request, self.acks != 0)
    }

    fn new_batch(&mut self, now: Time, rng: &mut ChaCha8Rng) -> Batch {
        let partition = rng.random_range(0..self.talk.leaders.len()) as i32;
        let count = rng.random_range(1..4u64);
        let first = self.talk.id as u64 * 1_000_000 + self.next_value;
        self.next_value += count;
        let values = (first..first + count).collect();
        let sequence = self.identity.as_ref().map_or(-1, |(_, next)| next[partition as usize]);
        Batch { partition, values, sequence, born: now, attempts: 0, sent: None }
    }

    fn request(&self) -> ProduceRequest {
        let batch = self.batch.as_ref().expect("a batch is under way");
        let mut builder = BatchBuilder::new();
        if let Some((id, _)) = &self.identity {
            builder = builder.producer(*id, 0, batch.sequence);
        }
        for value in &batch.values {
            builder.push(batch.born.0 as i64 / 1_000_000, None, Some(&value.to_be_bytes()), &[]);
        }
        let data = PartitionProduceData::default()
            .with_index(batch.partition)
            .with_records(Some(builder.build()));
        let topic = TopicProduceData::default()
            .with_name(TopicName(StrBytes::from_static_str(TOPIC)))
            .with_partition_data(vec![data]);
        ProduceRequest::default()
            .with_acks(self.acks)
            .with_timeout_ms(600)
            .with_topic_data(vec![topic])
    }

    fn take_outcome(&mut self, now: Time, version: i16, frame: bytes::Bytes) -> Vec<Action> {
        let answer = answer_of::<ProduceRequest>(version, frame);
        let row = &answer.responses[0].partition_responses[0];
        let batch = self.batch.as_ref().expect("an answer is to a batch");
        let (partition, first) = (batch.partition, batch.values[0]);
        if row.error_code == 0 {
            let batch = self.batch.take().expect("the batch was just looked at");
            if let Some((_, next)) = &mut self.identity {
                next[partition as usize] += batch.values.len() as i32;
            }
            self.last_ack = Some(now);
            let (offset, values, acks) = (row.base_offset, batch.values, self.acks);
            return vec![Action::Acked { partition, offset, values, acks }];
        }
        self.stale = true;
        let refused = row.error_code == ErrorCode::OutOfOrderSequenceNumber.code();
        let repeat = batch.sent.filter(|_| refused && batch.attempts > 1);
        self.failed(now);
        let refusal = |(by, sent)| Action::RepeatRefused { partition, value: first, by, sent };
        repeat.map(refusal).into_iter().collect()
    }

    /// An idempotent producer repeats its batch until its time is over, then begins a new session;
    /// any other goes on with the next batch.
    fn failed(&mut self, now: Time) {
        let Some(batch) = &self.batch else { return };
        let given_up = now.since(batch.born) > DELIVERY_MS * 1_000_000;
        if !self.idempotent || given_up {
            self.batch = None;
            self.identity = None;
        }
    }
}
