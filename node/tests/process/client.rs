//! A client that sends one request at a time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::nodes::wait_for;
use bytes::Bytes;
use highwater_broker::wire::codec::{decode_answer, encode_request};
use highwater_broker::wire::messages::create_topics_request::CreatableTopic;
use highwater_broker::wire::messages::fetch_request::{FetchPartition, FetchTopic};
use highwater_broker::wire::messages::produce_request::{PartitionProduceData, TopicProduceData};
use highwater_broker::wire::messages::{
    CreateTopicsRequest, FetchRequest, ProduceRequest, RequestMessage, TopicName,
};
use highwater_broker::wire::{ApiKey, ErrorCode, RequestHeader, RequestKind, StrBytes, frame};

/// Versions that name topics, not ids.
const PRODUCE_VERSION: i16 = 9;
const FETCH_VERSION: i16 = 12;
const CREATE_VERSION: i16 = 5;

pub struct Client {
    pub stream: TcpStream,
}

impl Client {
    pub fn connect(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream }
    }

    pub fn call<R>(&mut self, version: i16, request: R) -> R::Response
    where
        R: RequestMessage,
        RequestKind: From<R>,
    {
        let header = RequestHeader {
            api: ApiKey::try_from(R::KEY).unwrap(),
            version,
            correlation_id: 7,
            client_id: None,
        };
        let request = encode_request(&header, &RequestKind::from(request)).unwrap();
        self.stream.write_all(&frame::prefix(std::slice::from_ref(&request))).unwrap();
        self.stream.write_all(&request).unwrap();
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).unwrap();
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut answer).unwrap();
        let (correlation_id, answer) = decode_answer::<R>(version, answer.into()).unwrap();
        assert_eq!(correlation_id, 7);
        answer
    }

    /// Creates a topic of one partition; gives the error code.
    pub fn create(&mut self, topic: &str) -> i16 {
        let topic = CreatableTopic::default()
            .with_name(name(topic))
            .with_num_partitions(1)
            .with_replication_factor(1);
        let request =
            CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
        self.call(CREATE_VERSION, request).topics[0].error_code
    }

    /// Appends a batch, once the node leads the partition; gives the error code and the offset.
    pub fn produce(&mut self, topic: &str, batch: Bytes) -> (i16, i64) {
        let not_yet = ErrorCode::NotLeaderOrFollower.code();
        wait_for("the node leads", || {
            let (code, offset) = self.try_produce(topic, batch.clone());
            (code != not_yet).then_some((code, offset))
        })
    }

    fn try_produce(&mut self, topic: &str, batch: Bytes) -> (i16, i64) {
        let partition = PartitionProduceData::default().with_index(0).with_records(Some(batch));
        let topic =
            TopicProduceData::default().with_name(name(topic)).with_partition_data(vec![partition]);
        let request = ProduceRequest::default()
            .with_acks(-1)
            .with_timeout_ms(10_000)
            .with_topic_data(vec![topic]);
        let answer = self.call(PRODUCE_VERSION, request);
        let partition = &answer.responses[0].partition_responses[0];
        (partition.error_code, partition.base_offset)
    }

    /// Reads what is there from an offset on, once the node leads the partition again.
    pub fn fetch(&mut self, topic: &str, offset: i64) -> Bytes {
        wait_for("the node leads", || self.try_fetch(topic, offset))
    }

    /// None while the node does not lead the partition.
    fn try_fetch(&mut self, topic: &str, offset: i64) -> Option<Bytes> {
        let partition = FetchPartition::default()
            .with_partition(0)
            .with_fetch_offset(offset)
            .with_partition_max_bytes(1 << 20);
        let topic = FetchTopic::default().with_topic(name(topic)).with_partitions(vec![partition]);
        let request = FetchRequest::default()
            .with_max_wait_ms(1_000)
            .with_min_bytes(1)
            .with_max_bytes(1 << 20)
            .with_topics(vec![topic]);
        let answer = self.call(FETCH_VERSION, request);
        let partition = &answer.responses[0].partitions[0];
        let retriable = [ErrorCode::NotLeaderOrFollower, ErrorCode::UnknownTopicOrPartition];
        if retriable.map(ErrorCode::code).contains(&partition.error_code) {
            return None;
        }
        assert_eq!(partition.error_code, 0);
        Some(partition.records.clone().unwrap_or_default())
    }

    /// True when the other side closes the connection without an answer.
    pub fn closes_without_answer(mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }
}

fn name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}
