//! Brokers 1 to 3, of which 3 is fenced, and two topics.

use highwater_node_core::metadata::record::{
    Endpoint, IncarnationId, PartitionRecord, RegisterBrokerRecord, TopicRecord,
};
use highwater_node_core::metadata::{Delta, Record};
use highwater_node_core::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionId, TopicId,
};
use highwater_wire::messages::RequestMessage;
use highwater_wire::{ApiKey, RequestKind, codec};

use crate::testing::Bench;

pub(super) const CONN: u64 = 2;
pub(super) const ALPHA: TopicId = TopicId(0xa);

/// A serving broker that knows that cluster.
pub(super) fn bench() -> Bench {
    let mut bench = Bench::broker();
    let mut records: Vec<Record> = (1..=3).map(broker).collect();
    records.extend(topic("alpha", ALPHA, 3));
    records.extend(topic("beta", TopicId(0xb), 2));
    let replay = &mut bench.node.broker_mut().replay;
    for (offset, record) in records.into_iter().enumerate() {
        replay.apply(Offset(offset as i64), record, &mut Delta::default()).unwrap();
    }
    bench.node.kernel.connections.serve_clients();
    bench.accept(CONN);
    bench
}

/// Asks in this version and gives the answer.
pub(super) fn ask<R: RequestMessage>(bench: &mut Bench, version: i16, request: R) -> R::Response
where
    RequestKind: From<R>,
{
    let api = ApiKey::try_from(R::KEY).unwrap();
    bench.request(CONN, api, version, request.into());
    let sent = bench.sent(CONN);
    let [frame] = &sent[..] else { panic!("one answer, not {}", sent.len()) };
    codec::decode_answer::<R>(version, frame.clone()).unwrap().1
}

fn broker(id: i32) -> Record {
    let endpoint = Endpoint {
        listener: "PLAINTEXT".into(),
        host: format!("host{id}"),
        port: 9090 + id as u16,
        security_protocol: 0,
    };
    Record::RegisterBroker(RegisterBrokerRecord {
        broker: BrokerId(id),
        incarnation: IncarnationId(id as u128),
        broker_epoch: BrokerEpoch(id as i64 - 1),
        endpoints: vec![endpoint],
        features: Vec::new(),
        rack: Some(format!("r{id}")),
        fenced: id == 3,
        in_controlled_shutdown: false,
        log_dirs: Vec::new(),
    })
}

/// Partition 0 has no leader, 1 is led by broker 1, 2 by broker 2.
fn topic(name: &str, id: TopicId, partitions: i32) -> Vec<Record> {
    let topic = Record::Topic(TopicRecord { name: name.into(), id });
    let partition = |index| {
        Record::Partition(PartitionRecord {
            partition: PartitionId { topic: id, index },
            replicas: vec![BrokerId(1), BrokerId(2), BrokerId(3)],
            directories: Vec::new(),
            isr: vec![BrokerId(index.max(1))],
            removing: Vec::new(),
            adding: Vec::new(),
            leader: (index > 0).then_some(BrokerId(index)),
            recovering: false,
            leader_epoch: LeaderEpoch(4),
            partition_epoch: PartitionEpoch(6),
            elr: vec![BrokerId(2)],
            last_known_elr: Vec::new(),
        })
    };
    std::iter::once(topic).chain((0..partitions).map(partition)).collect()
}
