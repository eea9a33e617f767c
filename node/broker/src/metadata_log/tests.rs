//! Every record of the core survives the way over the wire.

use highwater_node_core::metadata::Record;
use highwater_node_core::metadata::record::*;
use highwater_node_core::types::*;

use super::*;

fn ids(of: &[i32]) -> Vec<BrokerId> {
    of.iter().copied().map(BrokerId).collect()
}

fn partition() -> PartitionRecord {
    PartitionRecord {
        partition: PartitionId { topic: TopicId(7), index: 3 },
        replicas: ids(&[1, 2, 3]),
        directories: vec![DirectoryId(1), DirectoryId(2), DirectoryId(3)],
        isr: ids(&[1, 2]),
        removing: ids(&[2]),
        adding: ids(&[3]),
        leader: Some(BrokerId(1)),
        recovering: true,
        leader_epoch: LeaderEpoch(4),
        partition_epoch: PartitionEpoch(5),
        elr: ids(&[3]),
        last_known_elr: ids(&[2]),
    }
}

fn broker() -> RegisterBrokerRecord {
    RegisterBrokerRecord {
        broker: BrokerId(1),
        incarnation: IncarnationId(9),
        broker_epoch: BrokerEpoch(2),
        endpoints: vec![Endpoint {
            listener: "PLAINTEXT".into(),
            host: "h".into(),
            port: 9092,
            security_protocol: 0,
        }],
        features: vec![FeatureRange { name: "metadata.version".into(), min: 7, max: 30 }],
        rack: Some("r".into()),
        fenced: true,
        in_controlled_shutdown: true,
        log_dirs: vec![DirectoryId(5)],
    }
}

fn change(fenced: Option<bool>, in_controlled_shutdown: bool) -> Record {
    Record::BrokerRegistrationChange(BrokerRegistrationChangeRecord {
        broker: BrokerId(1),
        broker_epoch: BrokerEpoch(2),
        fenced,
        in_controlled_shutdown,
    })
}

fn config(resource: Resource, value: Option<&str>) -> Record {
    Record::Config(ConfigRecord { resource, name: "p".into(), value: value.map(Into::into) })
}

/// At least one record of each kind, with every field set and with every field left out.
fn all() -> Vec<Record> {
    let RegisterBrokerRecord { incarnation, endpoints, features, .. } = broker();
    let id = PartitionId { topic: TopicId(7), index: 3 };
    vec![
        Record::BeginTransaction(Some("why".into())),
        Record::Topic(TopicRecord { name: "t".into(), id: TopicId(7) }),
        Record::Partition(partition()),
        Record::Partition(PartitionRecord { leader: None, elr: Vec::new(), ..partition() }),
        Record::PartitionChange(PartitionChangeRecord { partition: id, ..Default::default() }),
        Record::PartitionChange(PartitionChangeRecord {
            partition: id,
            isr: Some(ids(&[])),
            leader: Some(None),
            replicas: Some(ids(&[1])),
            removing: Some(ids(&[])),
            adding: Some(ids(&[2])),
            recovering: Some(false),
            directories: Some(vec![DirectoryId(1)]),
            elr: Some(ids(&[])),
            last_known_elr: Some(ids(&[4])),
        }),
        Record::PartitionChange(PartitionChangeRecord {
            partition: id,
            leader: Some(Some(BrokerId(2))),
            recovering: Some(true),
            ..Default::default()
        }),
        Record::RemoveTopic(TopicId(7)),
        config(Resource::Topic("4".into()), Some("v")),
        config(Resource::Broker(None), None),
        config(Resource::Broker(Some(BrokerId(4))), Some("")),
        config(Resource::Other(32, "g".into()), Some("v")),
        Record::RegisterBroker(broker()),
        change(Some(true), false),
        change(Some(false), false),
        change(None, true),
        Record::UnregisterBroker(UnregisterBrokerRecord {
            broker: BrokerId(1),
            broker_epoch: BrokerEpoch(2),
        }),
        Record::FeatureLevel(FeatureLevelRecord { name: "f".into(), level: 3 }),
        Record::ProducerIds(ProducerIdsRecord {
            broker: BrokerId(1),
            broker_epoch: BrokerEpoch(2),
            next_producer_id: 3000,
        }),
        Record::RegisterController(RegisterControllerRecord {
            controller: BrokerId(9),
            incarnation,
            endpoints,
            features,
        }),
        Record::NoOp,
        Record::EndTransaction,
        Record::AbortTransaction(None),
    ]
}

#[test]
fn a_batch_of_all_records_reads_back() {
    let records = all();
    let bytes = records_batch(Offset(40), LeaderEpoch(6), 1_000, &records);
    let batches = decode(bytes).unwrap();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].records, records);
    assert_eq!(batches[0].span.base, Offset(40));
    assert_eq!(batches[0].span.end, Offset(40 + records.len() as i64));
    assert_eq!(batches[0].span.epoch, LeaderEpoch(6));
}

#[test]
fn a_leader_change_takes_an_offset_and_holds_no_record() {
    let bytes = leader_change(Offset(3), LeaderEpoch(2), 0, BrokerId(9), [BrokerId(9)].into_iter());
    let batches = decode(bytes).unwrap();
    assert_eq!((batches[0].span.base, batches[0].span.end), (Offset(3), Offset(4)));
    assert!(batches[0].records.is_empty());
}

#[test]
fn a_flipped_bit_is_noticed() {
    let bytes = records_batch(Offset(0), LeaderEpoch(1), 0, &all());
    let mut broken = bytes.to_vec();
    *broken.last_mut().unwrap() ^= 1;
    assert!(matches!(decode(broken.into()), Err(MetadataLogError::Batch(_))));
}
