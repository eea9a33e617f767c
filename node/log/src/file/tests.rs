//! Round trips of the small files, and Kafka's own as they are.

use super::index::{OffsetEntry, TimeEntry};
use super::meta_properties::{MetaError, MetaProperties};
use super::name::{self, FileKind};
use super::{checkpoint, clean_shutdown, index, partition_metadata, snapshot, topic_id};
use crate::store::{EpochStart, ProducerBatch, ProducerEntry};

macro_rules! kafka {
    ($path:literal) => {
        include_bytes!(concat!("../../tests/testdata/kafka-4.3.1/", $path))
    };
}

fn text(bytes: &'static [u8]) -> &'static str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn kafkas_offset_checkpoint_is_written_as_it_was_read() {
    let file = text(kafka!("recovery-point-offset-checkpoint"));
    let offsets = checkpoint::parse_offsets(file).unwrap();
    assert_eq!((offsets[0].topic.as_str(), offsets[0].offset), ("foreign", 100));
    assert_eq!(checkpoint::format_offsets(&offsets), file);
    assert_eq!(checkpoint::parse_offsets(text(kafka!("cleaner-offset-checkpoint"))), Ok(vec![]));
}

#[test]
fn kafkas_epoch_checkpoint_is_written_as_it_was_read() {
    let file = text(kafka!("foreign-0/leader-epoch-checkpoint"));
    let epochs = checkpoint::parse_epochs(file).unwrap();
    assert_eq!(epochs, [EpochStart { epoch: 0, start_offset: 0 }]);
    assert_eq!(checkpoint::format_epochs(&epochs), file);
}

#[test]
fn broken_checkpoints_are_refused_with_the_line() {
    for (file, words) in [
        ("1\n0\n", "version \"1\""),
        ("0\nx\n", "line 2"),
        ("0\n1\nt 0\n", "line 3"),
        ("0\n1\nt 0 5", "cut short"),
        ("0\n2\nt 0 5\n", "2 entries are announced and 1 are there"),
    ] {
        let error = checkpoint::parse_offsets(file).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn kafkas_snapshot_is_written_as_it_was_read() {
    let file = kafka!("foreign-0/00000000000000000100.snapshot");
    let producers = snapshot::parse(file).unwrap();
    assert_eq!(producers.len(), 5);
    assert_eq!(producers.last().unwrap().batches[0].last_offset, 99);
    assert_eq!(snapshot::format(producers.iter()), file);
}

#[test]
fn a_snapshot_keeps_the_last_batch_and_a_flipped_byte_is_noticed() {
    let batch = |base_sequence, base_offset| ProducerBatch {
        base_sequence,
        last_sequence: 1,
        base_offset,
        last_offset: base_offset + 3,
        timestamp: 70,
    };
    let producer = ProducerEntry {
        producer_id: 9,
        producer_epoch: 2,
        batches: vec![batch(i32::MAX - 5, 10), batch(i32::MAX - 1, 20)],
        last_timestamp: 70,
        coordinator_epoch: -1,
        open_transaction: Some(20),
    };
    let mut file = snapshot::format([producer.clone()].iter());
    let kept = ProducerEntry { batches: producer.batches[1..].to_vec(), ..producer };
    assert_eq!(snapshot::parse(&file), Ok(vec![kept]));
    file[20] ^= 1;
    assert!(snapshot::parse(&file).unwrap_err().contains("checksum"));
}

#[test]
fn kafkas_small_files_are_read() {
    let meta = MetaProperties::parse(text(kafka!("meta.properties"))).unwrap();
    assert_eq!((meta.node_id, meta.cluster_id.as_str()), (1, "AAAAAAAAQACAAAAAAAAAAA"));
    assert_eq!(MetaProperties::parse(&meta.format()), Ok(meta));
    let metadata = text(kafka!("foreign-0/partition.metadata"));
    let id = partition_metadata::parse(metadata).unwrap();
    assert_eq!(topic_id::format(id), "hTauyhMATlW7a5hufAGoIA");
    assert_eq!(partition_metadata::format(id), metadata);
    let stop = text(kafka!(".kafka_cleanshutdown"));
    assert_eq!(clean_shutdown::parse(stop), Some(12));
    assert_eq!(clean_shutdown::format(Some(12)), stop);
    assert_eq!(clean_shutdown::parse(&clean_shutdown::format(None)), None);
}

#[test]
fn any_text_is_a_clusters_id_as_in_kafka() {
    for id in ["!!!", "a b", " a ", "a\\nb", "a\nnode.id=9\r", "a=b", "\u{fc}"] {
        let (cluster_id, directory_id) = (id.to_owned(), None);
        let meta =
            MetaProperties { cluster_id, node_id: 1, directory_id, highwater_format: Some(1) };
        assert_eq!(MetaProperties::parse(&meta.format()), Ok(meta));
    }
    let kafkas = MetaProperties::parse("version=1\nnode.id=1\ncluster.id=\\!\\ a\\nb\n").unwrap();
    assert_eq!(kafkas.cluster_id, "! a\nb");
}

#[test]
fn foreign_meta_properties_are_refused_by_name() {
    let error = |text| MetaProperties::parse(text).unwrap_err();
    assert_eq!(error("version=2\nnode.id=1\ncluster.id=x\n"), MetaError::Version("2".to_owned()));
    assert_eq!(error("broker.id=1\n"), MetaError::Version(String::new()));
    assert_eq!(error("version=1\ncluster.id=x\n"), MetaError::Property("node.id"));
    assert_eq!(error("version=1\nnode.id=1\n"), MetaError::Property("cluster.id"));
}

#[test]
fn kafkas_indexes_are_written_as_they_were_read() {
    let offsets: &[u8] = kafka!("foreign-0/00000000000000000032.index");
    let entries = index::parse::<OffsetEntry>(offsets).unwrap();
    assert_eq!((entries.len(), index::format(&entries).as_slice()), (4, offsets));
    let times: &[u8] = kafka!("foreign-0/00000000000000000032.timeindex");
    let entries = index::parse::<TimeEntry>(times).unwrap();
    assert_eq!((entries.len(), index::format(&entries).as_slice()), (4, times));
}

#[test]
fn a_preallocated_or_torn_index_is_broken() {
    let mut file: Vec<u8> = kafka!("foreign-0/00000000000000000032.index").to_vec();
    assert!(index::parse::<OffsetEntry>(&file[..file.len() - 1]).is_none());
    file.resize(240, 0);
    assert!(index::parse::<OffsetEntry>(&file).is_none());
}

#[test]
fn partition_directories_have_kafkas_names() {
    for (dir, wanted) in [
        ("t-0", Some(("t", 0))),
        ("a-b.c_d-12", Some(("a-b.c_d", 12))),
        ("t--1", Some(("t-", 1))),
        ("t", None),
        ("t-01", None),
        ("t-x", None),
        ("-0", None),
        ("..-0", None),
        ("a/b-0", None),
        ("t-99999999999", None),
        ("t-0.0123-delete", None),
    ] {
        assert_eq!(name::parse_dir(dir), wanted, "{dir}");
    }
}

#[test]
fn segment_files_have_kafkas_names() {
    assert_eq!(FileKind::TimeIndex.name(32), "00000000000000000032.timeindex");
    assert_eq!(FileKind::parse("00000000000000000032.log"), Some((FileKind::Log, 32)));
    for other in ["32.log", "0000000000000000003x.log", "00000000000000000032.log.deleted", "é"] {
        assert_eq!(FileKind::parse(other), None, "{other}");
    }
}

#[test]
fn a_deleted_or_stray_directory_has_a_legal_name_that_is_no_partitions() {
    let longest = format!("{}-0", "t".repeat(249));
    let deleted = name::deleted_dir(&longest, Some(7));
    assert!(deleted.len() <= 255 && name::is_deleted_dir(&deleted), "{deleted}");
    assert_eq!(name::parse_dir(&deleted), None);
    let stray = name::stray_dir(&longest, 7);
    assert!(stray.len() <= 255 && !name::is_deleted_dir(&stray), "{stray}");
    assert_eq!(name::parse_dir(&stray), None);
}
