//! A broker for tests: answers the clients' requests from memory, as told.

use std::collections::BTreeMap;

use bytes::Bytes;
use highwater_log::batch::{Batch, Batches, stamp};
use highwater_wire::{
    RequestKind, Response, ResponseKind, StrBytes,
    codec::{self, decode_request},
    messages::{
        BrokerId, FetchRequest, FetchResponse, InitProducerIdResponse, ListOffsetsRequest,
        ListOffsetsResponse, MetadataResponse, ProduceRequest, ProduceResponse, ProducerId,
        TopicName,
        fetch_response::{FetchableTopicResponse, PartitionData},
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
        list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse},
        metadata_response::{
            MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
        },
        produce_response::{PartitionProduceResponse, TopicProduceResponse},
    },
};

use crate::{Catalog, Key, client::Address};

/// What a broker answers to an offset that its log does not have.
const OUT_OF_RANGE: i16 = 1;
/// The timestamp that stands for the log start.
const EARLIEST: i64 = -2;

/// One broker that leads every key at epoch 3 and knows no others.
#[derive(Debug)]
pub struct FakeBroker {
    catalog: Catalog,
    /// Where its metadata says that it listens.
    pub address: Address,
    pub logs: BTreeMap<Key, Vec<Bytes>>,
    ends: BTreeMap<Key, i64>,
    /// Where logs begin that do not begin at 0.
    pub starts: BTreeMap<Key, i64>,
    next_producer_id: i64,
    /// Answers the next Produce requests with these codes, and appends nothing for them.
    pub refuse: Vec<i16>,
    /// Answers the next Fetch requests with these codes for every key.
    pub refuse_fetch: Vec<i16>,
    /// Every batch that was asked for, in order.
    pub batches: Vec<Batch>,
}

impl FakeBroker {
    pub const NODE: i32 = 7;
    pub const EPOCH: i32 = 3;

    pub fn new(catalog: &Catalog) -> FakeBroker {
        FakeBroker {
            catalog: catalog.clone(),
            address: Address { host: "fake".into(), port: 9092 },
            logs: BTreeMap::new(),
            ends: BTreeMap::new(),
            starts: BTreeMap::new(),
            next_producer_id: 4_000,
            refuse: Vec::new(),
            refuse_fetch: Vec::new(),
            batches: Vec::new(),
        }
    }

    /// The answer to a request frame; `None` at acks=0.
    pub fn answer(&mut self, frame: Bytes) -> Option<Bytes> {
        let request = decode_request(frame).expect("clients send whole requests");
        let body = match &request.body {
            RequestKind::Metadata(_) => ResponseKind::Metadata(self.metadata()),
            RequestKind::ApiVersions(_) => ResponseKind::ApiVersions(Default::default()),
            RequestKind::InitProducerId(init) => {
                assert_eq!(init.transactional_id, None, "an empty id is an id");
                self.next_producer_id += 1;
                let id = ProducerId(self.next_producer_id);
                let answer = InitProducerIdResponse::default().with_producer_id(id);
                ResponseKind::InitProducerId(answer.with_producer_epoch(0))
            }
            RequestKind::Produce(produce) => {
                let answer = self.produce(produce);
                if produce.acks == 0 {
                    return None;
                }
                ResponseKind::Produce(answer)
            }
            RequestKind::Fetch(fetch) => ResponseKind::Fetch(self.fetch(fetch)),
            RequestKind::ListOffsets(list) => ResponseKind::ListOffsets(self.list_starts(list)),
            other => panic!("a client asked {other:?}"),
        };
        let header = request.header;
        let response = Response { correlation_id: header.correlation_id, body };
        let parts = codec::encode_response(header.api, header.version, &response);
        Some(parts.expect("the answer fits its version").concat().into())
    }

    /// Appends bytes as they are, as a damaged or foreign record would stand.
    pub fn plant(&mut self, key: Key, batch: Bytes) {
        let end = self.ends.entry(key).or_default();
        let batch = Batches::new(batch).next().expect("one batch").expect("a whole batch");
        let count = i64::from(batch.header().record_count);
        self.logs.entry(key).or_default().push(stamp(batch, *end, Self::EPOCH, None));
        *end += count;
    }

    fn metadata(&self) -> MetadataResponse {
        let broker = MetadataResponseBroker::default()
            .with_node_id(BrokerId(Self::NODE))
            .with_host(StrBytes::from_string(self.address.host.clone()))
            .with_port(self.address.port.into());
        let topic = |topic: &crate::topic::Topic| {
            let partition = |index| {
                MetadataResponsePartition::default()
                    .with_partition_index(index)
                    .with_leader_id(BrokerId(Self::NODE))
                    .with_leader_epoch(Self::EPOCH)
            };
            MetadataResponseTopic::default()
                .with_name(Some(TopicName(StrBytes::from_string(topic.name.clone()))))
                .with_topic_id(topic.id)
                .with_partitions((0..topic.plan.partitions as i32).map(partition).collect())
        };
        MetadataResponse::default()
            .with_brokers(vec![broker])
            .with_topics(self.catalog.topics().iter().map(topic).collect())
    }

    fn produce(&mut self, request: &ProduceRequest) -> ProduceResponse {
        let topic = &request.topic_data[0];
        let partition = &topic.partition_data[0];
        let key = self.catalog.by_name(&topic.name, partition.index).expect("a known key");
        let bytes = partition.records.clone().expect("a batch");
        let batch = Batches::new(bytes.clone()).next().expect("one batch").expect("whole");
        self.batches.push(batch);
        let mut answer = PartitionProduceResponse::default().with_index(partition.index);
        if self.refuse.is_empty() {
            answer.base_offset = self.ends.get(&key).copied().unwrap_or(0);
            self.plant(key, bytes);
        } else {
            answer.error_code = self.refuse.remove(0);
            answer.base_offset = -1;
        }
        let topic = TopicProduceResponse::default()
            .with_name(topic.name.clone())
            .with_partition_responses(vec![answer]);
        ProduceResponse::default().with_responses(vec![topic])
    }

    fn fetch(&mut self, request: &FetchRequest) -> FetchResponse {
        let refused = (!self.refuse_fetch.is_empty()).then(|| self.refuse_fetch.remove(0));
        let mut topics = Vec::new();
        for topic in &request.topics {
            let mut partitions = Vec::new();
            for asked in &topic.partitions {
                let key = self.catalog.told(topic.topic_id, &topic.topic, asked.partition);
                let key = key.expect("a known key");
                let mut answer = PartitionData::default().with_partition_index(asked.partition);
                let gone = asked.fetch_offset < self.start(key);
                answer.error_code = refused.unwrap_or(if gone { OUT_OF_RANGE } else { 0 });
                if answer.error_code == 0 {
                    answer.records = Some(self.records(key, asked.fetch_offset));
                }
                partitions.push(answer);
            }
            let answer = FetchableTopicResponse::default()
                .with_topic_id(topic.topic_id)
                .with_topic(topic.topic.clone());
            topics.push(answer.with_partitions(partitions));
        }
        FetchResponse::default().with_responses(topics)
    }

    fn start(&self, key: Key) -> i64 {
        self.starts.get(&key).copied().unwrap_or(0)
    }

    fn list_starts(&self, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let topic = |topic: &ListOffsetsTopic| {
            let partition = |asked: &ListOffsetsPartition| {
                assert_eq!(asked.timestamp, EARLIEST, "clients ask for nothing else");
                let key = self.catalog.by_name(&topic.name, asked.partition_index);
                ListOffsetsPartitionResponse::default()
                    .with_partition_index(asked.partition_index)
                    .with_offset(self.start(key.expect("a known key")))
            };
            ListOffsetsTopicResponse::default()
                .with_name(topic.name.clone())
                .with_partitions(topic.partitions.iter().map(partition).collect())
        };
        ListOffsetsResponse::default().with_topics(request.topics.iter().map(topic).collect())
    }

    fn records(&self, key: Key, from: i64) -> Bytes {
        let after = |bytes: &&Bytes| {
            let batch = Batches::new((*bytes).clone()).next().expect("one").expect("whole");
            batch.header().next_offset() > from
        };
        let batches: Vec<&[u8]> =
            self.logs.get(&key).into_iter().flatten().filter(after).map(|b| &b[..]).collect();
        batches.concat().into()
    }
}

/// A topic of one partition each: `all-0` at acks=all (key 0), `zero-0` at acks=0 (key 1) and
/// `one-0` at acks=1 (key 2).
pub fn catalog() -> Catalog {
    use crate::{Acks, topic::TopicPlan};
    let mut catalog = Catalog::default();
    let levels = [("all", Acks::All), ("zero", Acks::Zero), ("one", Acks::One)];
    for (nth, (label, acks)) in levels.into_iter().enumerate() {
        let plan = TopicPlan::new(label, 1, acks);
        catalog.add(plan, format!("r7-{label}"), uuid::Uuid::from_u128(nth as u128 + 1));
    }
    catalog
}
