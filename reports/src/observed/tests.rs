//! Tests of leaders over time and of what dumps held.

use std::{collections::BTreeMap, fs, path::Path};

use highwater_history::{
    Key, RunFolder,
    dump_folder::DumpFolder,
    dumps::{DumpBatch, DumpHeader, Moment, SameAs, ValueRun},
    lines::LineWriter,
    manifest::Clocks,
    metadata::MetadataRecord,
    samples::{PartitionState, ReplicaState, Said, Sample},
};
use serde_json::json;

use super::{Dumps, Held, Span, Watermarks, from_metadata, from_samples};

const MS: u64 = 1_000_000;
const ZERO_MS: i64 = 1_000_000;

fn record(at_ms: i64, kind: &str, fields: serde_json::Value) -> MetadataRecord {
    let timestamp_ms = ZERO_MS + at_ms;
    MetadataRecord { offset: 0, epoch: 1, timestamp_ms, kind: kind.to_owned(), fields }
}

#[test]
fn leaders_follow_the_metadata_log() {
    let change = |at_ms, leader: Option<i32>| {
        let fields = json!({"topicId": "id", "partitionId": 0, "leader": leader, "isr": [1]});
        record(at_ms, "PartitionChangeRecord", fields)
    };
    let records = [
        record(0, "TopicRecord", json!({"name": "t", "topicId": "id"})),
        record(
            0,
            "PartitionRecord",
            json!({"topicId": "id", "partitionId": 0, "leader": 1, "leaderEpoch": 4}),
        ),
        change(5, None),
        change(6, Some(-2)),
        change(7, Some(-1)),
        change(9, Some(2)),
    ];
    let clocks = Clocks { wall_ns: ZERO_MS as u64 * MS, monotonic_ns: 0 };
    let leaders = from_metadata(&records, &BTreeMap::new(), &clocks);
    let spans = [(0, Some(1), 4), (7, None, 5), (9, Some(2), 6)]
        .map(|(at_ms, leader, epoch)| Span { from_ns: at_ms * MS, leader, epoch });
    assert_eq!(leaders, [(Key::of("t", 0), spans.to_vec())].into());
}

#[test]
fn leaders_from_samples_never_go_back_to_an_older_epoch() {
    let sample = |answered, leader, leader_epoch| Sample {
        asked: answered - 1,
        answered,
        node: 1,
        said: Said::Partition(PartitionState {
            key: "t-0".into(),
            leader: Some(leader),
            leader_epoch,
            ..PartitionState::default()
        }),
    };
    let samples = [sample(10, 1, 0), sample(20, 2, 1), sample(25, 1, 0), sample(30, 2, 1)];
    let spans = [(10, 1, 0), (20, 2, 1)].map(|(from_ns, leader, epoch)| Span {
        from_ns,
        leader: Some(leader),
        epoch,
    });
    assert_eq!(from_samples(&samples), [("t-0".into(), spans.to_vec())].into());
}

#[test]
fn a_watermark_is_the_last_one_sampled_before() {
    let sample = |answered, node, key: &str, hw| Sample {
        asked: answered - 1,
        answered,
        node,
        said: Said::Replica(ReplicaState { key: key.into(), hw, ..ReplicaState::default() }),
    };
    let samples = [
        sample(10, 1, "t-0", Some(3)),
        sample(20, 1, "t-0", None),
        sample(30, 1, "t-0", Some(5)),
        sample(30, 1, "u-0", Some(9)),
    ];
    let marks = Watermarks::of(&samples, |key| *key == "t-0".into());
    let before = |at_ns| marks.before(1, &"t-0".into(), at_ns);
    assert_eq!([9, 10, 29, 30].map(before), [None, Some(3), Some(3), Some(5)]);
    assert_eq!(marks.before(2, &"t-0".into(), 99), None);
    assert_eq!(marks.before(1, &"u-0".into(), 99), None);
}

fn header(node: i32, from: i64, same_as: Option<SameAs>) -> DumpHeader {
    DumpHeader {
        moment: Moment::Final,
        at: 0,
        node,
        key: "t-0".into(),
        topic: "t".to_owned(),
        partition: 0,
        from,
        log_start: None,
        hw: None,
        epochs: Vec::new(),
        same_as,
    }
}

fn batch(base_offset: i64, count: i64, control: bool) -> DumpBatch {
    DumpBatch {
        base_offset,
        last_offset: base_offset + count - 1,
        epoch: 3,
        producer_id: -1,
        producer_epoch: -1,
        sequence: -1,
        control,
        crc: 0,
        damage: None,
        values: vec![ValueRun::Run(base_offset * 10, count as u32, 10)].into(),
        offset_deltas: None,
    }
}

fn dump(folder: &Path, name: &str, header: &DumpHeader, batches: &[DumpBatch]) {
    let mut out = LineWriter::create(&folder.join(name), header).unwrap();
    batches.iter().for_each(|batch| out.write(batch).unwrap());
    out.finish().unwrap();
}

#[test]
fn a_dump_says_what_it_held_at_an_offset() {
    let folder = tempfile::tempdir().unwrap();
    let batches = [batch(4, 2, false), batch(6, 1, true), batch(8, 2, false)];
    dump(folder.path(), "a.jsonl.zst", &header(1, 4, None), &batches);
    let dumps = Dumps::of(DumpFolder::read(folder.path()).unwrap());
    let held = |offset| dumps.held(&"t-0".into(), offset)[0].held.clone();
    assert_eq!(held(3), Held::BeforeStart);
    assert_eq!(held(5), Held::Record { value: Some(50), epoch: 3 });
    assert_eq!(held(6), Held::Control { epoch: 3 });
    assert_eq!(held(7), Held::Gap);
    assert_eq!(held(10), Held::PastEnd);
    assert_eq!(dumps.offset_of(&"t-0".into(), 90), Some(9));
    assert_eq!(dumps.held(&"other-0".into(), 5), []);
}

/// Names are paths: dumps may stand in folders, and two of them may share a file name.
#[test]
fn a_dump_that_is_the_same_as_another_up_to_an_offset_holds_its_records() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("final")).unwrap();
    let same = SameAs { file: "final/a.jsonl".into(), to: 4 };
    let batches = [batch(0, 2, false), batch(2, 2, false), batch(4, 2, false)];
    dump(folder.path(), "final/a.jsonl", &header(1, 0, None), &batches);
    dump(folder.path(), "a.jsonl", &header(2, 0, Some(same)), &[batch(4, 1, false)]);
    let dumps = Dumps::of(DumpFolder::read(folder.path()).unwrap());
    let of_second = |offset| dumps.held(&"t-0".into(), offset)[1].clone();
    assert_eq!(of_second(3).held, Held::Record { value: Some(30), epoch: 3 });
    assert_eq!(of_second(4).held, Held::Record { value: Some(40), epoch: 3 });
    assert_eq!((of_second(5).held, of_second(5).leo), (Held::PastEnd, 5));
}

#[test]
fn no_dumps_folder_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let dumps = Dumps::of(RunFolder::new(folder.path()).dumps().unwrap());
    assert_eq!(dumps.held(&"t-0".into(), 0), []);
}
