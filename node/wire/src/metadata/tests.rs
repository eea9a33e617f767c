//! Records read back as written, in the bytes and the versions that Kafka writes.

use bytes::Bytes;
use uuid::Uuid;

use super::*;
use crate::messages::LeaderChangeMessage;
use crate::messages::leader_change_message::Voter;

fn read_back(record: impl Into<MetadataRecord>) -> Bytes {
    let record = record.into();
    let value = record.encode();
    assert_eq!(MetadataRecord::decode(&value).as_ref(), Ok(&record));
    value
}

/// The version byte behind frame version and key.
fn version_of(record: impl Into<MetadataRecord>) -> u8 {
    read_back(record)[2]
}

fn partition() -> PartitionRecord {
    PartitionRecord {
        partition_id: 3,
        topic_id: Uuid::from_u128(7),
        replicas: vec![1, 2, 3],
        isr: vec![1, 2],
        leader: 1,
        ..PartitionRecord::default()
    }
}

#[test]
fn records_that_kafka_wrote_have_the_same_bytes() {
    let level = FeatureLevelRecord { name: "metadata.version".into(), feature_level: 30 };
    assert_eq!(&read_back(level)[..], b"\x01\x0c\x00\x11metadata.version\x00\x1e\x00");
    let begin = BeginTransactionRecord { name: Some("Bootstrap records".into()) };
    assert_eq!(&read_back(begin)[..], b"\x01\x17\x00\x01\x00\x12\x12Bootstrap records");
    assert_eq!(&read_back(EndTransactionRecord {})[..], b"\x01\x18\x00\x00");
    assert_eq!(&read_back(NoOpRecord {})[..], b"\x01\x14\x00\x00");
    let unfenced = BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 12,
        fenced: -1,
        ..Default::default()
    };
    let value = read_back(unfenced);
    assert_eq!(&value[..], b"\x01\x11\x00\0\0\0\x01\0\0\0\0\0\0\0\x0c\x01\x00\x01\xff");
}

#[test]
fn the_lowest_version_that_can_express_a_record_is_written() {
    assert_eq!(version_of(partition()), 0);
    let directories = vec![Uuid::nil(); 3];
    assert_eq!(version_of(PartitionRecord { directories, ..partition() }), 1);
    let elr = Some(vec![3]);
    assert_eq!(version_of(PartitionRecord { eligible_leader_replicas: elr, ..partition() }), 2);
    let change = PartitionChangeRecord::default();
    assert_eq!(version_of(change.clone()), 0);
    let directories = Some(vec![Uuid::nil()]);
    assert_eq!(version_of(PartitionChangeRecord { directories, ..change.clone() }), 1);
    let last_known_elr = Some(vec![]);
    assert_eq!(version_of(PartitionChangeRecord { last_known_elr, ..change }), 2);
    let log_dirs = vec![Uuid::nil()];
    assert_eq!(version_of(RegisterBrokerRecord { log_dirs, ..Default::default() }), 3);
    let stopping =
        BrokerRegistrationChangeRecord { in_controlled_shutdown: 1, ..Default::default() };
    assert_eq!(version_of(stopping), 1);
}

#[test]
fn a_change_tells_none_from_unchanged() {
    let change =
        PartitionChangeRecord { isr: Some(vec![]), leader: NO_LEADER, ..Default::default() };
    let value = read_back(change);
    assert_eq!(
        &value[value.len() - 9..],
        b"\x02\x00\x01\x01\x01\x04\xff\xff\xff\xff"[1..].as_ref()
    );
    assert_eq!(read_back(PartitionChangeRecord::default()).last(), Some(&0), "nothing is tagged");
}

#[test]
fn a_registration_with_all_its_parts_reads_back() {
    read_back(RegisterBrokerRecord {
        broker_id: 2,
        incarnation_id: Uuid::from_u128(1 << 100),
        broker_epoch: 12,
        end_points: vec![Endpoint {
            name: "PLAINTEXT".into(),
            host: "127.0.0.1".into(),
            port: 65_535,
            security_protocol: 0,
        }],
        features: vec![FeatureRange {
            name: "metadata.version".into(),
            min_supported_version: 7,
            max_supported_version: 30,
        }],
        rack: Some("r1".into()),
        fenced: true,
        log_dirs: vec![Uuid::from_u128(5)],
        cordoned_log_dirs: Some(vec![]),
        ..RegisterBrokerRecord::default()
    });
}

#[test]
fn broken_values_are_refused_by_name() {
    let refused = |value: &[u8]| MetadataRecord::decode(value).unwrap_err();
    assert_eq!(refused(b""), RecordError::Truncated);
    assert_eq!(refused(b"\x02\x14\x00\x00"), RecordError::Frame(2));
    assert_eq!(refused(b"\x01\x63\x00\x00"), RecordError::Key(99));
    assert_eq!(refused(b"\x01\x14\x07\x00"), RecordError::Version { key: 20, version: 7 });
    assert_eq!(refused(b"\x01\x0c\x00\xff\xff\xff\xff\x0f"), RecordError::Truncated);
    assert_eq!(refused(b"\x01\x0c\x00\x00\x00\x1e\x00"), RecordError::Malformed);
    assert_eq!(refused(b"\x01\x0c\x00\x02\xff\x00\x1e\x00"), RecordError::Malformed);
}

#[test]
fn every_cut_of_a_record_is_refused() {
    let value = read_back(PartitionRecord { directories: vec![Uuid::nil(); 3], ..partition() });
    for end in 0..value.len() {
        assert!(MetadataRecord::decode(&value[..end]).is_err(), "{end} of {}", value.len());
    }
}

#[test]
fn a_leader_change_has_the_bytes_that_kafka_writes() {
    let voters = vec![Voter::default().with_voter_id(1)];
    let record = ControlRecord::LeaderChange(
        LeaderChangeMessage::default()
            .with_leader_id(1.into())
            .with_voters(voters.clone())
            .with_granting_voters(voters),
    );
    let value = record.value();
    assert_eq!(&record.key()[..], b"\0\0\0\x02");
    assert_eq!(&value[..], b"\0\0\0\0\0\x01\x02\0\0\0\x01\0\x02\0\0\0\x01\0\0");
    assert_eq!(ControlRecord::decode(&record.key(), value), Ok(record));
    let hostile = Bytes::from_static(b"\0\0\0\0\0\x01\xff\xff\xff\xff\x0f");
    assert!(ControlRecord::decode(b"\0\0\0\x02", hostile).is_err());
    assert_eq!(ControlRecord::decode(b"\0\0\0\x09", Bytes::new()), Err(ControlError::Type(9)));
}
