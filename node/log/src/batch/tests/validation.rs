//! What a leader refuses, and by which error.

use bytes::{BufMut, Bytes, BytesMut};

use super::{client_batch, view};
use crate::batch::{
    BatchBuilder, BatchError, Codec, Policy, Refusal, TimestampType, Validated, validate,
};

fn policy() -> Policy {
    Policy {
        max_message_bytes: 1_000,
        segment_bytes: 2_000,
        compacted: false,
        timestamp_type: TimestampType::CreateTime,
        before_max_ms: 500,
        after_max_ms: 500,
        codec: None,
        zstd_allowed: true,
        decompressed_max_bytes: 1 << 20,
        now_ms: 1_200,
    }
}

fn ok(records: Bytes, policy: &Policy) -> Validated {
    validate(records, policy).unwrap()
}

fn refusal(records: impl Into<Bytes>) -> Refusal {
    validate(records.into(), &policy()).unwrap_err()
}

fn is_invalid(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::InvalidRecord { .. })
}

/// A batch with some bytes of its header overwritten and the checksum made right again.
fn forged(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut batch = client_batch(Codec::None, &["a", "b"]).to_vec();
    batch[at..at + bytes.len()].copy_from_slice(bytes);
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch
}

#[test]
fn a_good_batch_is_taken_as_it_is() {
    for codec in Codec::ALL {
        let batch = client_batch(codec, &["a", "b"]);
        let valid = ok(batch.clone(), &policy());
        assert_eq!(valid.batch.bytes(), &batch);
        assert_eq!(valid.append_time, None);
    }
}

#[test]
fn rule_40_old_formats_are_invalid_and_unknown_ones_corrupt() {
    for (magic, invalid) in [(0u8, true), (1, true), (3, false), (9, false), (255, false)] {
        let refused = refusal(forged(16, &[magic]));
        let corrupt = Refusal::CorruptMessage(BatchError::Magic(magic as i8));
        assert!(if invalid { is_invalid(refused) } else { refused == corrupt }, "{magic}");
    }
}

#[test]
fn rule_40_a_bad_checksum_is_corrupt() {
    let mut batch = client_batch(Codec::None, &["a"]).to_vec();
    *batch.last_mut().unwrap() ^= 1;
    let refused = refusal(batch);
    assert!(matches!(refused, Refusal::CorruptMessage(BatchError::Crc { .. })), "{refused:?}");
}

#[test]
fn rule_1_a_base_offset_is_invalid() {
    assert!(is_invalid(refusal(forged(0, &1i64.to_be_bytes()))));
}

#[test]
fn counts_that_do_not_fit_are_invalid() {
    for (at, value) in [(57, 0i32), (57, -1), (57, 1), (57, 3), (57, i32::MAX), (23, 0), (23, 2)] {
        assert!(is_invalid(refusal(forged(at, &value.to_be_bytes()))), "{at} {value}");
    }
}

#[test]
fn deltas_that_skip_or_repeat_an_offset_are_invalid() {
    // Each record is: length, attributes, timestamp delta, offset delta, and so on.
    let second_delta = client_batch(Codec::None, &["a"]).len() + 3;
    for delta in [0u8, 10] {
        let refused = refusal(forged(second_delta, &[delta]));
        assert!(matches!(refused, Refusal::InvalidRecord { record: Some(1), .. }), "{refused:?}");
    }
}

#[test]
fn control_batches_and_empty_requests_are_invalid() {
    assert!(is_invalid(refusal(BatchBuilder::new().control().record(1, None, None, &[]).build())));
    assert!(is_invalid(refusal(Bytes::new())));
    assert!(is_invalid(refusal(BatchBuilder::new().build())));
    assert!(is_invalid(refusal(client_batch(Codec::None, &["a"]).slice(..40))));
}

#[test]
fn a_producer_without_a_sequence_is_invalid() {
    let batch = BatchBuilder::new().producer(5, 0, -1).record(1_000, None, None, &[]).build();
    assert!(is_invalid(refusal(batch)));
}

#[test]
fn two_batches_are_invalid_and_half_a_second_one_is_dropped() {
    let first = client_batch(Codec::None, &["a"]);
    let mut two = BytesMut::from(&first[..]);
    two.put_slice(&first);
    let two = two.freeze();
    assert!(is_invalid(refusal(two.clone())));
    let half = ok(two.slice(..two.len() - 1), &policy());
    assert_eq!(half.batch.bytes(), &first);
}

#[test]
fn rule_40_the_largest_batch_is_exactly_max_message_bytes() {
    let batch = client_batch(Codec::None, &["a"]);
    let size = batch.len();
    let at = |max_message_bytes, segment_bytes| {
        let policy = Policy { max_message_bytes, segment_bytes, ..policy() };
        validate(batch.clone(), &policy).err()
    };
    assert_eq!(at(size, size), None);
    let limit = size - 1;
    assert_eq!(at(limit, size), Some(Refusal::MessageTooLarge { size, limit }));
    assert_eq!(at(size, limit), Some(Refusal::RecordListTooLarge { size, limit }));
}

#[test]
fn timestamps_must_be_near_the_leaders_clock() {
    for (timestamp, good) in [(699, false), (700, true), (1_700, true), (1_701, false), (-1, true)]
    {
        let batch = BatchBuilder::new().record(timestamp, None, None, &[]).build();
        let refused = validate(batch, &policy()).err();
        assert_eq!(refused.is_none(), good, "{timestamp}: {refused:?}");
    }
}

#[test]
fn the_leaders_timestamps_make_the_producers_irrelevant() {
    let batch = BatchBuilder::new().record(1, None, None, &[]).build();
    let policy = Policy { timestamp_type: TimestampType::LogAppendTime, ..policy() };
    assert_eq!(ok(batch, &policy).append_time, Some(1_200));
}

#[test]
fn a_producer_that_claims_the_leaders_timestamps_is_not_believed() {
    let claims = |batch: &Bytes| {
        let mut forged = batch.to_vec();
        forged[22] |= 8;
        let crc = crc32c::crc32c(&forged[21..]);
        forged[17..21].copy_from_slice(&crc.to_be_bytes());
        Bytes::from(forged)
    };
    for codec in Codec::ALL {
        let batch = client_batch(codec, &["a", "b"]);
        assert_eq!(ok(claims(&batch), &policy()).batch.bytes(), &batch);
        let by_leader = Policy { timestamp_type: TimestampType::LogAppendTime, ..policy() };
        let refused = validate(claims(&batch), &by_leader).unwrap_err();
        assert_eq!(refused, Refusal::AppendTimeClaimed { record: 0 });
    }
    let timeless = BatchBuilder::new().record(-1, None, None, &[]).build();
    assert_eq!(refusal(claims(&timeless)), Refusal::AppendTimeClaimed { record: 0 });
}

#[test]
fn the_largest_timestamp_is_corrected() {
    let valid = ok(forged(35, &7i64.to_be_bytes()).into(), &policy());
    assert_eq!(valid.batch.header().max_timestamp, 1_000);
    assert_eq!(valid.batch.check_crc(), Ok(()));
}

#[test]
fn compacted_topics_need_keys() {
    let batch = BatchBuilder::new()
        .record(1_000, Some(b"k"), None, &[])
        .record(1_000, None, None, &[])
        .build();
    let refused = validate(batch, &Policy { compacted: true, ..policy() });
    let refused = refused.map(|_| ()).unwrap_err();
    assert!(matches!(refused, Refusal::InvalidRecord { record: Some(1), .. }), "{refused:?}");
}

#[test]
fn the_topics_codec_is_what_is_stored() {
    for sent in Codec::ALL {
        for stored in Codec::ALL {
            let batch = client_batch(sent, &["a", "b"]);
            let policy = Policy { codec: Some(stored), ..policy() };
            let valid = ok(batch.clone(), &policy).batch;
            assert_eq!(valid.header().codec(), Ok(stored));
            assert_eq!(valid.check_crc(), Ok(()));
            let records = |batch: crate::batch::Batch| {
                batch.records(1_000).unwrap().collect::<Result<Vec<_>, _>>().unwrap()
            };
            assert_eq!(records(valid), records(view(batch)));
        }
    }
}

#[test]
fn zstd_needs_produce_7() {
    let policy = Policy { zstd_allowed: false, ..policy() };
    let refused = validate(client_batch(Codec::Zstd, &["a"]), &policy).map(|_| ()).unwrap_err();
    assert_eq!(refused, Refusal::UnsupportedCompression);
}

#[test]
fn what_does_not_decompress_is_unreadable() {
    // The attributes' low byte: gzip, though the records are plain.
    let refused = refusal(forged(22, &[1]));
    assert!(matches!(refused, Refusal::Unreadable(_)), "{refused:?}");
}
