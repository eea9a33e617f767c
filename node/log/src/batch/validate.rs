//! What a leader demands of a batch that a client produced, before it gets a place in the log.

use bytes::{BufMut, Bytes, BytesMut};
use thiserror::Error;

use super::header::{ATTRIBUTES_AT, CRC_AT, PREFIX_BYTES};
use super::patch::set_create_time;
use super::{
    Batch, BatchError, Batches, Codec, HEADER_BYTES, NO_SEQUENCE, NO_TIMESTAMP, Records,
    TimestampType,
};

/// The topic's and the broker's settings that a batch is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `max.message.bytes`: the largest batch.
    pub max_message_bytes: usize,
    /// `segment.bytes`: no batch is larger than a segment.
    pub segment_bytes: usize,
    /// True when `cleanup.policy` has `compact`: records need keys.
    pub compacted: bool,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub after_max_ms: i64,
    /// `compression.type`; none stands for `producer`.
    pub codec: Option<Codec>,
    /// False for Produce below version 7, which cannot carry zstd.
    pub zstd_allowed: bool,
    /// The most bytes that a batch's records may have when decompressed.
    pub decompressed_max_bytes: usize,
    /// The leader's clock, in Unix milliseconds.
    pub now_ms: i64,
}

/// A batch that may be appended once [`stamp`](super::stamp) has given it its place.
#[derive(Clone, Debug)]
pub struct Validated {
    /// The batch, compressed and with the largest timestamp as it will be stored.
    pub batch: Batch,
    /// What `stamp` and the answer need as append time, in Unix milliseconds; none when the
    /// producer's timestamps count.
    pub append_time: Option<i64>,
}

/// Why a batch is refused. Each kind is one of Kafka's error codes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// INVALID_RECORD.
    #[error("{reason}")]
    InvalidRecord {
        /// The record, by its position in the batch; none when the whole batch is meant.
        record: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// CORRUPT_MESSAGE.
    #[error("the batch is corrupt: {0}")]
    CorruptMessage(BatchError),
    /// UNKNOWN_SERVER_ERROR: what Kafka answers when the records cannot be decompressed.
    #[error("the records cannot be read: {0}")]
    Unreadable(BatchError),
    /// MESSAGE_TOO_LARGE.
    #[error("the batch has {size} bytes, max.message.bytes is {limit}")]
    MessageTooLarge {
        /// The batch's bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// RECORD_LIST_TOO_LARGE.
    #[error("the batch has {size} bytes, segment.bytes is {limit}")]
    RecordListTooLarge {
        /// The batch's bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// INVALID_TIMESTAMP.
    #[error("timestamp {timestamp} of record {record} is not between {earliest} and {latest}")]
    InvalidTimestamp {
        /// The record, by its position in the batch.
        record: usize,
        /// Its timestamp, in Unix milliseconds.
        timestamp: i64,
        /// The smallest that is allowed.
        earliest: i64,
        /// The largest that is allowed.
        latest: i64,
    },
    /// INVALID_TIMESTAMP too.
    #[error("record {record} says that the leader set its timestamp")]
    AppendTimeClaimed {
        /// The record, by its position in the batch.
        record: usize,
    },
    /// UNSUPPORTED_COMPRESSION_TYPE.
    #[error("Produce versions before 7 cannot carry zstd")]
    UnsupportedCompression,
}

/// Checks what one partition got in a Produce request (rule 1; rule 40 for the codes). The checks
/// are made in Kafka's order, so that a batch with two faults is refused for the same one.
pub fn validate(records: Bytes, policy: &Policy) -> Result<Validated, Refusal> {
    let batch = only_batch(records, policy)?;
    check_envelope(&batch, policy)?;
    check_header(&batch)?;
    let records = batch.records(policy.decompressed_max_bytes).map_err(Refusal::Unreadable)?;
    let largest = check_records(&batch, records.clone(), policy)?;
    let by_leader = policy.timestamp_type == TimestampType::LogAppendTime;
    let append_time = by_leader.then_some(policy.now_ms);
    let batch = recompress(batch, &records, policy)?;
    let batch = if by_leader { batch } else { correct_timestamp(batch, largest) };
    Ok(Validated { batch, append_time })
}

fn invalid(reason: impl Into<String>) -> Refusal {
    Refusal::InvalidRecord { record: None, reason: reason.into() }
}

/// A partition's records are exactly one batch. Bytes after it that are no whole batch are dropped.
fn only_batch(records: Bytes, policy: &Policy) -> Result<Batch, Refusal> {
    let mut batches = Batches::new(records);
    let refused = |error| match error {
        BatchError::Incomplete { .. } => {
            invalid("the request has no whole batch for the partition")
        }
        BatchError::Magic(magic @ 0..=1) => {
            invalid(format!("message format {magic} is not supported, only format 2 is"))
        }
        error => Refusal::CorruptMessage(error),
    };
    let first = batches.next().ok_or_else(|| invalid("the request has no batch"))?;
    let batch = first.map_err(refused)?;
    if !policy.zstd_allowed && batch.header().codec() == Ok(Codec::Zstd) {
        return Err(Refusal::UnsupportedCompression);
    }
    match batches.next() {
        None | Some(Err(BatchError::Incomplete { .. })) => Ok(batch),
        Some(Ok(_)) => Err(invalid("the request has more than one batch for the partition")),
        Some(Err(error)) => Err(refused(error)),
    }
}

fn check_envelope(batch: &Batch, policy: &Policy) -> Result<(), Refusal> {
    let base_offset = batch.header().base_offset;
    if base_offset != 0 {
        return Err(invalid(format!("a client's batch begins at offset 0, not {base_offset}")));
    }
    check_size(batch, policy)?;
    batch.check_crc().map_err(Refusal::CorruptMessage)
}

fn check_size(batch: &Batch, policy: &Policy) -> Result<(), Refusal> {
    let size = batch.bytes().len();
    if size > policy.max_message_bytes {
        return Err(Refusal::MessageTooLarge { size, limit: policy.max_message_bytes });
    }
    if size > policy.segment_bytes {
        return Err(Refusal::RecordListTooLarge { size, limit: policy.segment_bytes });
    }
    Ok(())
}

fn check_header(batch: &Batch) -> Result<(), Refusal> {
    let header = batch.header();
    if header.is_control() {
        return Err(invalid("a client may not write a control batch"));
    }
    if header.has_producer_id() && header.base_sequence <= NO_SEQUENCE {
        return Err(invalid("a batch with a producer id needs a sequence"));
    }
    let count = header.record_count;
    if count <= 0 {
        return Err(invalid("the batch has no records"));
    }
    if header.last_offset_delta != count - 1 {
        let last = header.last_offset_delta;
        return Err(invalid(format!("{count} records do not end at offset delta {last}")));
    }
    Ok(())
}

/// Checks every record; gives the largest timestamp.
fn check_records(batch: &Batch, mut records: Records, policy: &Policy) -> Result<i64, Refusal> {
    let base_timestamp = batch.header().base_timestamp;
    let mut largest = NO_TIMESTAMP;
    let mut index = 0;
    while let Some(layout) = records.next_layout() {
        let layout = layout.map_err(|error| invalid(error.to_string()))?;
        let refused = |reason: &str| Refusal::InvalidRecord {
            record: Some(index),
            reason: format!("record {index} {reason}"),
        };
        if layout.offset_delta as usize != index {
            return Err(refused("does not have its position as offset delta"));
        }
        if policy.compacted && layout.key.is_none() {
            return Err(refused("has no key, and the topic is compacted"));
        }
        let timestamp = base_timestamp.wrapping_add(layout.timestamp_delta);
        check_timestamp(batch, index, timestamp, policy)?;
        largest = largest.max(timestamp);
        index += 1;
    }
    Ok(largest)
}

/// KIP-937: both bounds count from the leader's clock. As in Kafka, a batch may say that the leader
/// set its timestamps only where they are looked at; what is stored says the truth.
fn check_timestamp(
    batch: &Batch,
    record: usize,
    timestamp: i64,
    policy: &Policy,
) -> Result<(), Refusal> {
    if policy.timestamp_type == TimestampType::LogAppendTime || timestamp == NO_TIMESTAMP {
        return match batch.header().timestamp_type() {
            TimestampType::CreateTime => Ok(()),
            TimestampType::LogAppendTime => Err(Refusal::AppendTimeClaimed { record }),
        };
    }
    let earliest = policy.now_ms.saturating_sub(policy.before_max_ms);
    let latest = policy.now_ms.saturating_add(policy.after_max_ms);
    if (earliest..=latest).contains(&timestamp) {
        return Ok(());
    }
    Err(Refusal::InvalidTimestamp { record, timestamp, earliest, latest })
}

/// Compresses the records as the topic wants them stored.
fn recompress(batch: Batch, records: &Records, policy: &Policy) -> Result<Batch, Refusal> {
    let stored = batch.header().codec().map_err(Refusal::Unreadable)?;
    let Some(codec) = policy.codec.filter(|codec| *codec != stored) else { return Ok(batch) };
    let body = codec.compress(records.body().clone());
    let mut header = *batch.header();
    header.set_codec(codec);
    header.batch_length = (HEADER_BYTES - PREFIX_BYTES + body.len()) as i32;
    let mut bytes = BytesMut::with_capacity(HEADER_BYTES + body.len());
    header.write(&mut bytes);
    bytes.put_slice(&body);
    let crc = crc32c::crc32c(&bytes[ATTRIBUTES_AT..]);
    (&mut bytes[CRC_AT..]).put_u32(crc);
    let batch = reread(bytes.freeze());
    check_size(&batch, policy)?;
    Ok(batch)
}

/// The header's largest timestamp is what look-ups by time trust: it is the leader's to say.
fn correct_timestamp(batch: Batch, largest: i64) -> Batch {
    let header = batch.header();
    if header.max_timestamp == largest && header.timestamp_type() == TimestampType::CreateTime {
        return batch;
    }
    let mut bytes = BytesMut::from(&batch.bytes()[..]);
    set_create_time(&mut bytes, largest);
    reread(bytes.freeze())
}

fn reread(mut bytes: Bytes) -> Batch {
    Batch::split_from(&mut bytes).expect("a batch that was just written is whole")
}
