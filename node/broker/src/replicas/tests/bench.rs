//! Broker 1 with a store in memory, and metadata that the tests write.

use bytes::Bytes;
use highwater_log::batch::BatchBuilder;
use highwater_log::{MemDisk, Store};
use highwater_node_core::metadata::record::{
    Endpoint, IncarnationId, PartitionChangeRecord, PartitionRecord, RegisterBrokerRecord,
    TopicRecord,
};
use highwater_node_core::metadata::{Delta, Record};
use highwater_node_core::replica::{FetchQuery, Reader};
use highwater_node_core::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionId, TopicId,
};
use highwater_wire::messages::fetch_request::{FetchPartition, FetchTopic, ReplicaState};
use highwater_wire::messages::produce_request::{PartitionProduceData, TopicProduceData};
use highwater_wire::messages::produce_response::PartitionProduceResponse;
use highwater_wire::messages::{
    FetchRequest, FetchResponse, ProduceRequest, RequestMessage, TopicName,
};
use highwater_wire::{ApiKey, RequestKind, StrBytes, codec};
use uuid::Uuid;

use crate::effect::{Effect, Input};
use crate::replicas;
use crate::testing::{Bench, broker_config};

pub const CLIENT: u64 = 2;
pub const TOPIC: TopicId = TopicId(0xa);
pub const NAME: &str = "alpha";

/// Broker 1, its store, and what it sent that was not looked at.
pub struct DataBench {
    pub bench: Bench,
    pub store: Store<MemDisk>,
    next_offset: i64,
}

pub fn partition(index: i32) -> PartitionId {
    PartitionId { topic: TOPIC, index }
}

impl DataBench {
    /// A broker that serves; brokers 1 to 3 are registered.
    pub fn new() -> DataBench {
        let mut config = broker_config();
        config.replication.lag_time_max_ms = 1000;
        let bench = Bench::new(config);
        let store = Store::new(MemDisk::new());
        let mut data = DataBench { bench, store, next_offset: 0 };
        // a broker that was not started has epoch -1; so says its registration here
        for (id, epoch) in [(1, -1), (2, 12), (3, 13)] {
            data.apply(vec![broker(id, epoch)]);
        }
        data.bench.node.kernel.connections.serve_clients();
        data.bench.accept(CLIENT);
        data
    }

    /// Applies metadata records as the follower of the metadata log does.
    pub fn apply(&mut self, records: Vec<Record>) {
        let mut delta = Delta::default();
        for record in records {
            let replay = &mut self.bench.node.broker_mut().replay;
            replay.apply(Offset(self.next_offset), record, &mut delta).unwrap();
            self.next_offset += 1;
        }
        replicas::apply_delta(&mut self.bench.node, &delta);
        self.bench.step(Input::Tick);
        self.run_disk();
    }

    /// A topic of one partition that broker 1 leads in epoch 0.
    pub fn create(&mut self, name: &str, topic: TopicId, replicas: &[i32]) {
        let ids: Vec<BrokerId> = replicas.iter().map(|id| BrokerId(*id)).collect();
        self.apply(vec![
            Record::Topic(TopicRecord { name: name.into(), id: topic }),
            Record::Partition(PartitionRecord {
                partition: PartitionId { topic, index: 0 },
                replicas: ids.clone(),
                directories: Vec::new(),
                isr: ids,
                removing: Vec::new(),
                adding: Vec::new(),
                leader: Some(BrokerId(1)),
                recovering: false,
                leader_epoch: LeaderEpoch(0),
                partition_epoch: PartitionEpoch(0),
                elr: Vec::new(),
                last_known_elr: Vec::new(),
            }),
        ]);
    }

    /// Another broker leads from now on.
    pub fn elect(&mut self, leader: i32) {
        let change = PartitionChangeRecord {
            partition: partition(0),
            leader: Some(Some(BrokerId(leader))),
            ..PartitionChangeRecord::default()
        };
        self.apply(vec![Record::PartitionChange(change)]);
    }

    /// Executes the disk commands that came out, and those that follow from them.
    pub fn run_disk(&mut self) {
        let mut kept = Vec::new();
        loop {
            let (disk, others): (Vec<Effect>, Vec<Effect>) =
                self.bench.take().into_iter().partition(|e| matches!(e, Effect::Disk { .. }));
            kept.extend(others);
            if disk.is_empty() {
                break;
            }
            for effect in disk {
                let Effect::Disk { op, command } = effect else { continue };
                let done = self.store.execute(0, command);
                self.bench.step(Input::Disk { op, done });
            }
        }
        self.bench.out = kept;
        self.bench.node.broker().replicas.validate();
    }

    /// Sends a request; the disk is not run.
    pub fn send<R: RequestMessage>(&mut self, version: i16, request: R)
    where
        RequestKind: From<R>,
    {
        let api = ApiKey::try_from(R::KEY).unwrap();
        self.bench.request(CLIENT, api, version, request.into());
    }

    /// The answers that have come, in order.
    pub fn answers<R: RequestMessage>(&mut self, version: i16) -> Vec<R::Response> {
        self.run_disk();
        let frames = self.bench.sent(CLIENT);
        let decode = |frame| codec::decode_answer::<R>(version, frame).unwrap().1;
        frames.into_iter().map(decode).collect()
    }

    pub fn produce(&mut self, acks: i16, batch: Bytes) {
        self.produce_to(NAME, acks, batch);
    }

    pub fn produce_to(&mut self, name: &str, acks: i16, batch: Bytes) {
        let data = PartitionProduceData::default().with_index(0).with_records(Some(batch));
        let topic = TopicProduceData::default()
            .with_name(TopicName(StrBytes::from_string(name.to_owned())))
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(acks)
            .with_timeout_ms(1000)
            .with_topic_data(vec![topic]);
        self.send(9, request);
    }

    /// (error code, base offset) of the only answer to a produce, if there is one.
    pub fn produced(&mut self) -> Option<(i16, i64)> {
        let answers = self.answers::<ProduceRequest>(9);
        let rows: Vec<&PartitionProduceResponse> = answers
            .iter()
            .flat_map(|answer| &answer.responses)
            .flat_map(|topic| &topic.partition_responses)
            .collect();
        assert!(rows.len() <= 1, "one produce at a time");
        rows.first().map(|row| (row.error_code, row.base_offset))
    }

    /// A fetch by a follower (its id and epoch) or a consumer (-1).
    pub fn fetch(&mut self, reader: (i32, i64), offset: i64, max_wait_ms: i32) {
        let asked = FetchPartition::default()
            .with_partition(0)
            .with_fetch_offset(offset)
            .with_current_leader_epoch(-1)
            .with_last_fetched_epoch(-1)
            .with_partition_max_bytes(1 << 20);
        let topic = FetchTopic::default()
            .with_topic_id(Uuid::from_u128(TOPIC.0))
            .with_partitions(vec![asked]);
        let state =
            ReplicaState::default().with_replica_id(reader.0.into()).with_replica_epoch(reader.1);
        let request = FetchRequest::default()
            .with_replica_state(state)
            .with_max_wait_ms(max_wait_ms)
            .with_min_bytes(1)
            .with_max_bytes(1 << 20)
            .with_session_epoch(-1)
            .with_topics(vec![topic]);
        self.send(17, request);
    }

    /// A follower's fetch confirms everything below `offset`; it comes by no connection, so that it
    /// can overtake a request that waits.
    pub fn confirm(&mut self, follower: i32, offset: i64) {
        let query = FetchQuery {
            reader: Reader::Follower {
                id: BrokerId(follower),
                epoch: BrokerEpoch(10 + i64::from(follower)),
            },
            offset: Offset(offset),
            leader_epoch: None,
            last_fetched_epoch: None,
        };
        let node = &mut self.bench.node;
        let fetched = replicas::step(node, partition(0), |r, env, out| r.fetch(env, &query, out));
        assert!(matches!(fetched, Some(Ok(_))), "{fetched:?}");
        self.bench.step(Input::Tick);
    }

    /// (error code, high watermark, bytes) of the only answer to a fetch, if there is one.
    pub fn fetched(&mut self) -> Option<(i16, i64, usize)> {
        let answers: Vec<FetchResponse> = self.answers::<FetchRequest>(17);
        let rows = answers.iter().flat_map(|answer| &answer.responses).flat_map(|t| &t.partitions);
        let rows: Vec<_> = rows
            .map(|p| (p.error_code, p.high_watermark, p.records.as_ref().map_or(0, Bytes::len)))
            .collect();
        assert!(rows.len() <= 1, "one fetch at a time");
        rows.first().copied()
    }
}

/// A batch of one record; of an idempotent producer when `stamp` has its id and sequence.
pub fn batch(stamp: Option<(i64, i32)>) -> Bytes {
    let builder = BatchBuilder::new();
    let builder = match stamp {
        Some((id, sequence)) => builder.producer(id, 0, sequence),
        None => builder,
    };
    builder.record(0, None, Some(b"value"), &[]).build()
}

fn broker(id: i32, epoch: i64) -> Record {
    let endpoint = Endpoint {
        listener: "PLAINTEXT".into(),
        host: format!("host{id}"),
        port: 9090,
        security_protocol: 0,
    };
    Record::RegisterBroker(RegisterBrokerRecord {
        broker: BrokerId(id),
        incarnation: IncarnationId(id as u128),
        broker_epoch: BrokerEpoch(epoch),
        endpoints: vec![endpoint],
        features: Vec::new(),
        rack: None,
        fenced: false,
        in_controlled_shutdown: false,
        log_dirs: Vec::new(),
    })
}
