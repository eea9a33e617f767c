//! Reading what was built, for every codec, and refusing what was not.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{client_batch, view};
use crate::batch::{
    Batch, BatchBuilder, BatchError, Batches, Codec, Record, RecordHeader, TimestampType, stamp,
};

const LIMIT: usize = 1 << 20;

fn bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..40).prop_map(Bytes::from)
}

prop_compose! {
    fn header()(key in bytes(), value in option::of(bytes())) -> RecordHeader {
        RecordHeader { key, value }
    }
}

prop_compose! {
    fn record()(
        timestamp in 0i64..1 << 41,
        key in option::of(bytes()),
        value in option::of(bytes()),
        headers in vec(header(), 0..4),
    ) -> Record {
        Record { offset: 0, timestamp, key, value, headers }
    }
}

fn codec() -> impl Strategy<Value = Codec> {
    prop::sample::select(Codec::ALL.to_vec())
}

fn build(codec: Codec, records: &[Record]) -> Bytes {
    let mut builder = BatchBuilder::new().codec(codec).producer(7, 1, 3);
    for record in records {
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        builder.push(record.timestamp, key, value, &record.headers);
    }
    builder.build()
}

fn read(batch: &Batch) -> Result<Vec<Record>, BatchError> {
    batch.records(LIMIT)?.collect()
}

proptest! {
    #[test]
    fn records_read_back_as_written(codec in codec(), records in vec(record(), 1..20)) {
        let batch = view(build(codec, &records));
        prop_assert_eq!(batch.check_crc(), Ok(()));
        prop_assert_eq!(batch.header().record_count as usize, records.len());
        let numbered = records.into_iter().enumerate();
        let wanted: Vec<Record> =
            numbered.map(|(at, record)| Record { offset: at as i64, ..record }).collect();
        prop_assert_eq!(read(&batch).unwrap(), wanted);
    }

    #[test]
    fn one_changed_byte_is_noticed(
        codec in codec(),
        records in vec(record(), 1..5),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let whole = build(codec, &records);
        let mut broken = whole.to_vec();
        let at = at.index(broken.len());
        broken[at] ^= flip;
        let mut rest = Bytes::from(broken);
        let batch = Batch::split_from(&mut rest);
        let noticed = batch.and_then(|batch| batch.check_crc());
        // Base offset and leader epoch are outside the checksum, for leaders to set.
        prop_assert_eq!(noticed.is_err(), !matches!(at, 0..=7 | 12..=15));
    }

    #[test]
    fn noise_never_panics_or_exceeds_the_limit(noise in vec(any::<u8>(), 0..400)) {
        for batch in Batches::new(noise.clone().into()).flatten() {
            prop_assert!(batch.records(LIMIT).map(Iterator::count).unwrap_or(0) <= noise.len());
        }
        for codec in Codec::ALL {
            if let Ok(plain) = codec.decompress(noise.clone().into(), 1_000) {
                prop_assert!(plain.len() <= 1_000);
            }
        }
    }

    #[test]
    fn records_of_noise_end(noise in vec(any::<u8>(), 0..400), count in any::<i32>()) {
        let mut forged = BatchBuilder::new().record(0, None, Some(&noise), &[]).build().to_vec();
        forged.truncate(61);
        forged.extend_from_slice(&noise);
        forged[8..12].copy_from_slice(&(49 + noise.len() as i32).to_be_bytes());
        forged[57..61].copy_from_slice(&count.to_be_bytes());
        let batch = view(forged.into());
        prop_assert!(batch.records(LIMIT).unwrap().count() <= noise.len() + 1);
    }
}

#[test]
fn header_keys_may_repeat() {
    let header = |value| RecordHeader { key: "k".into(), value };
    let headers = [header(Some("1".into())), header(None), header(Some("".into()))];
    let batch = view(BatchBuilder::new().record(5, None, None, &headers).build());
    assert_eq!(read(&batch).unwrap()[0].headers, headers);
}

#[test]
fn a_prefix_of_a_batch_is_incomplete() {
    let whole = client_batch(Codec::None, &["a", "b"]);
    for end in 1..whole.len() {
        let cut = Batches::new(whole.slice(..end)).next();
        assert!(matches!(cut, Some(Err(BatchError::Incomplete { .. }))), "{end}: {cut:?}");
    }
}

#[test]
fn batches_end_at_the_first_bad_one() {
    let mut run = client_batch(Codec::None, &["a"]).to_vec();
    run.extend_from_slice(&client_batch(Codec::None, &["b"]));
    run.extend_from_slice(&[0; 30]);
    let got: Vec<bool> = Batches::new(run.into()).map(|batch| batch.is_ok()).collect();
    assert_eq!(got, [true, true, false]);
}

#[test]
fn rule_1_stamping_sets_place_without_touching_content() {
    let batch = view(client_batch(Codec::Gzip, &["a", "b"]));
    let crc = batch.header().crc;
    let stamped = view(stamp(batch, 41, 6, None));
    let header = stamped.header();
    assert_eq!((header.base_offset, header.next_offset(), header.leader_epoch), (41, 43, 6));
    assert_eq!((header.crc, stamped.check_crc()), (crc, Ok(())));
}

#[test]
fn stamping_with_append_time_sets_all_timestamps() {
    let batch = view(client_batch(Codec::Zstd, &["a", "b"]));
    let stamped = view(stamp(batch, 0, 0, Some(9_999)));
    assert_eq!(stamped.check_crc(), Ok(()));
    assert_eq!(stamped.header().timestamp_type(), TimestampType::LogAppendTime);
    let times: Vec<i64> = read(&stamped).unwrap().iter().map(|record| record.timestamp).collect();
    assert_eq!(times, [9_999, 9_999]);
}

#[test]
fn stamping_leaves_shared_bytes_alone() {
    let bytes = client_batch(Codec::None, &["a"]);
    stamp(view(bytes.clone()), 9, 9, Some(9));
    assert_eq!(bytes, client_batch(Codec::None, &["a"]));
}

#[test]
fn sequences_start_again_after_the_largest() {
    let mut builder = BatchBuilder::new().producer(1, 0, i32::MAX - 1);
    for _ in 0..4 {
        builder.push(0, None, None, &[]);
    }
    assert_eq!(view(builder.build()).header().last_sequence(), 1);
}

#[test]
fn decompression_is_bounded() {
    let plain = Bytes::from(vec![0u8; 1_000_000]);
    for codec in Codec::ALL {
        let compressed = codec.compress(plain.clone());
        assert_eq!(codec.decompress(compressed.clone(), 1_000_000).as_ref(), Ok(&plain));
        let refused = codec.decompress(compressed, 999_999).is_err();
        assert_eq!(refused, codec != Codec::None, "{codec:?}: plain bytes are there already");
    }
}

#[test]
fn a_raw_snappy_block_is_read() {
    let raw = snap::raw::Encoder::new().compress_vec(b"raw raw raw").unwrap();
    assert_eq!(Codec::Snappy.decompress(raw.into(), 100).unwrap(), "raw raw raw");
}

#[test]
fn linked_lz4_blocks_are_refused_as_kafka_refuses_them() {
    use lz4_flex::frame::{BlockMode, FrameEncoder, FrameInfo};
    use std::io::Write;
    let info = FrameInfo::new().block_mode(BlockMode::Linked);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(b"linked").unwrap();
    let linked = encoder.finish().unwrap();
    assert!(Codec::Lz4.decompress(linked.into(), 100).is_err());
}
