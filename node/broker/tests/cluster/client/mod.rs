//! Clients: one request at a time over one connection, nothing hidden.

mod admin;
mod consumer;
mod producer;

use bytes::Bytes;
use highwater_node_core::types::Time;
use highwater_wire::messages::metadata_request::MetadataRequestTopic;
use highwater_wire::messages::{MetadataRequest, MetadataResponse, RequestMessage, TopicName};
use highwater_wire::{ApiKey, RequestHeader, RequestKind, StrBytes, codec};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub use admin::Admin;
pub use consumer::Consumer;
pub use producer::Producer;

use super::host::BROKERS;
use super::net::Place;

/// The topic that everything happens in.
pub const TOPIC: &str = "t";
/// How long a client waits for an answer.
const TIMEOUT_MS: u64 = 700;

/// What a client is told.
pub enum Input {
    /// It may do something.
    Wake,
    /// An answer.
    Answer(Bytes),
    /// The connection is gone, or no answer came in time.
    Lost,
}

/// What a client wants or tells.
pub enum Action {
    /// Send this frame to that broker, over the connection that is open to it, else a new one.
    Send { to: Place, frame: Bytes, answered: bool },
    /// Wake it after this time.
    Sleep { ms: u64 },
    /// A batch was acknowledged.
    Acked { partition: i32, offset: i64, values: Vec<u64>, acks: i16 },
    /// A record was read by a consumer.
    Read { partition: i32, offset: i64, epoch: i32, value: u64 },
    /// An exact repeat of this producer's last batch was refused as out of order by this broker.
    RepeatRefused { partition: i32, value: u64, by: Place, sent: Time },
    /// The topic exists.
    TopicReady,
}

/// What all kinds of clients share.
pub struct Talk {
    pub id: i32,
    correlation: i32,
    /// The request whose answer is waited for: API and version.
    pub asked: Option<(ApiKey, i16)>,
    /// The leader of each partition, as the last Metadata answer said.
    pub leaders: Vec<Option<Place>>,
}

impl Talk {
    pub fn new(id: i32, partitions: usize) -> Talk {
        Talk { id, correlation: 0, asked: None, leaders: vec![None; partitions] }
    }

    /// Sends a request.
    pub fn ask<R: RequestMessage>(
        &mut self,
        to: Place,
        version: i16,
        body: R,
        answered: bool,
    ) -> Action
    where
        RequestKind: From<R>,
    {
        let api = ApiKey::try_from(R::KEY).expect("a request has an API");
        self.correlation += 1;
        let header = RequestHeader {
            api,
            version,
            correlation_id: self.correlation,
            client_id: Some(StrBytes::from_string(format!("client-{}", self.id))),
        };
        let frame = codec::encode_request(&header, &body.into()).expect("it can be sent");
        self.asked = answered.then_some((api, version));
        Action::Send { to, frame, answered }
    }

    /// Asks any broker who leads.
    pub fn ask_metadata(&mut self, rng: &mut ChaCha8Rng) -> Action {
        let name = TopicName(StrBytes::from_static_str(TOPIC));
        let topic = MetadataRequestTopic::default().with_name(Some(name));
        let request = MetadataRequest::default()
            .with_topics(Some(vec![topic]))
            .with_allow_auto_topic_creation(false);
        self.ask(any_broker(rng), 12, request, true)
    }

    pub fn take_metadata(&mut self, version: i16, frame: Bytes) {
        let answer: MetadataResponse = answer_of::<MetadataRequest>(version, frame);
        for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
            let leader = partition.leader_id.0;
            if let Some(slot) = self.leaders.get_mut(partition.partition_index as usize) {
                *slot = (leader >= 0).then_some(Place(leader));
            }
        }
    }
}

pub fn answer_of<R: RequestMessage>(version: i16, frame: Bytes) -> R::Response {
    codec::decode_answer::<R>(version, frame).expect("a node's answers can be read").1
}

pub fn any_broker(rng: &mut ChaCha8Rng) -> Place {
    BROKERS[rng.random_range(0..BROKERS.len())]
}

/// A client of any kind.
pub enum Client {
    Producer(Producer),
    Consumer(Consumer),
    Admin(Admin),
}

impl Client {
    pub fn step(&mut self, now: Time, input: Input, rng: &mut ChaCha8Rng) -> Vec<Action> {
        match self {
            Client::Producer(client) => client.step(now, input, rng),
            Client::Consumer(client) => client.step(input, rng),
            Client::Admin(client) => client.step(input, rng),
        }
    }

    /// How long it waits for an answer.
    pub fn timeout_ms(&self) -> u64 {
        TIMEOUT_MS
    }
}
