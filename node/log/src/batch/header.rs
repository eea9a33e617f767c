//! The 61 bytes at the front of a batch.

use bytes::{Buf, BufMut};

use super::{BatchError, Codec};

/// Length of a batch's header, in bytes.
pub const HEADER_BYTES: usize = 61;
/// A batch that no leader has stamped yet.
pub const NO_LEADER_EPOCH: i32 = -1;
/// A batch of a producer that is not idempotent.
pub const NO_PRODUCER_ID: i64 = -1;
/// Goes with [`NO_PRODUCER_ID`].
pub const NO_PRODUCER_EPOCH: i16 = -1;
/// Goes with [`NO_PRODUCER_ID`].
pub const NO_SEQUENCE: i32 = -1;
/// No record has a timestamp.
pub const NO_TIMESTAMP: i64 = -1;

/// Bytes before those that `batch_length` counts: base offset and the length itself.
pub(crate) const PREFIX_BYTES: usize = 12;
/// Where the magic byte stands.
pub(crate) const MAGIC_AT: usize = 16;
/// Where the checksum stands.
pub(crate) const CRC_AT: usize = 17;
/// Where the checksummed bytes begin.
pub(crate) const ATTRIBUTES_AT: usize = 21;
/// The only message format that is served.
pub(crate) const MAGIC: i8 = 2;

/// The attribute bits that hold the codec.
pub(crate) const CODEC_BITS: i16 = 0x07;
const TIMESTAMP_TYPE: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;

/// Who set the records' timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer.
    #[default]
    CreateTime,
    /// The leader, when it appended.
    LogAppendTime,
}

/// A batch's header fields, as they stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record that the batch was made with.
    pub base_offset: i64,
    /// Bytes that follow this field; the whole batch is 12 bytes longer.
    pub batch_length: i32,
    /// Epoch of the leader that appended it; [`NO_LEADER_EPOCH`] from a client.
    pub leader_epoch: i32,
    /// Message format.
    pub magic: i8,
    /// CRC-32C of everything from the attributes on.
    pub crc: u32,
    /// Codec and flags.
    pub attributes: i16,
    /// Last offset minus base offset.
    pub last_offset_delta: i32,
    /// What the records' timestamp deltas count from, in Unix milliseconds.
    pub base_timestamp: i64,
    /// Largest record timestamp, in Unix milliseconds.
    pub max_timestamp: i64,
    /// The idempotent producer, or [`NO_PRODUCER_ID`].
    pub producer_id: i64,
    /// The producer's epoch, or [`NO_PRODUCER_EPOCH`].
    pub producer_epoch: i16,
    /// Sequence of the first record, or [`NO_SEQUENCE`].
    pub base_sequence: i32,
    /// How many records are in the batch.
    pub record_count: i32,
}

impl BatchHeader {
    /// Reads a header from the front of `bytes`. Checks length and format, not the checksum.
    pub fn parse(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
        let present = bytes.len() as u64;
        if bytes.len() < PREFIX_BYTES {
            return Err(BatchError::Incomplete { needed: HEADER_BYTES as u64, present });
        }
        let batch_length = (&bytes[8..PREFIX_BYTES]).get_i32();
        // A message of an older format can be shorter than this header; its magic byte tells.
        if batch_length < (MAGIC_AT + 1 - PREFIX_BYTES) as i32 {
            return Err(BatchError::Length(batch_length));
        }
        if bytes.len() <= MAGIC_AT {
            return Err(BatchError::Incomplete { needed: HEADER_BYTES as u64, present });
        }
        let magic = bytes[MAGIC_AT] as i8;
        if magic != MAGIC {
            return Err(BatchError::Magic(magic));
        }
        if batch_length < (HEADER_BYTES - PREFIX_BYTES) as i32 {
            return Err(BatchError::Length(batch_length));
        }
        if bytes.len() < HEADER_BYTES {
            return Err(BatchError::Incomplete { needed: HEADER_BYTES as u64, present });
        }
        Ok(BatchHeader::read(bytes))
    }

    fn read(mut bytes: &[u8]) -> BatchHeader {
        BatchHeader {
            base_offset: bytes.get_i64(),
            batch_length: bytes.get_i32(),
            leader_epoch: bytes.get_i32(),
            magic: bytes.get_i8(),
            crc: bytes.get_u32(),
            attributes: bytes.get_i16(),
            last_offset_delta: bytes.get_i32(),
            base_timestamp: bytes.get_i64(),
            max_timestamp: bytes.get_i64(),
            producer_id: bytes.get_i64(),
            producer_epoch: bytes.get_i16(),
            base_sequence: bytes.get_i32(),
            record_count: bytes.get_i32(),
        }
    }

    /// Writes the header's 61 bytes.
    pub(crate) fn write(&self, out: &mut impl BufMut) {
        out.put_i64(self.base_offset);
        out.put_i32(self.batch_length);
        out.put_i32(self.leader_epoch);
        out.put_i8(self.magic);
        out.put_u32(self.crc);
        out.put_i16(self.attributes);
        out.put_i32(self.last_offset_delta);
        out.put_i64(self.base_timestamp);
        out.put_i64(self.max_timestamp);
        out.put_i64(self.producer_id);
        out.put_i16(self.producer_epoch);
        out.put_i32(self.base_sequence);
        out.put_i32(self.record_count);
    }

    /// Length of the whole batch, in bytes.
    pub fn size(&self) -> usize {
        PREFIX_BYTES + self.batch_length as usize
    }

    /// Offset of the last record that the batch was made with.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// The offset after the batch.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// How the records are compressed.
    pub fn codec(&self) -> Result<Codec, BatchError> {
        Codec::from_attributes(self.attributes)
    }

    /// Who set the timestamps.
    pub fn timestamp_type(&self) -> TimestampType {
        match self.attributes & TIMESTAMP_TYPE {
            0 => TimestampType::CreateTime,
            _ => TimestampType::LogAppendTime,
        }
    }

    /// True for a batch that belongs to a transaction.
    pub fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    /// True for a batch that brokers wrote for themselves: markers, not data.
    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    /// True for a batch of an idempotent producer.
    pub fn has_producer_id(&self) -> bool {
        self.producer_id != NO_PRODUCER_ID
    }

    /// Sequence of the last record; sequences run from 0 to `i32::MAX` and start again.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence == NO_SEQUENCE {
            return NO_SEQUENCE;
        }
        add_sequence(self.base_sequence, self.last_offset_delta)
    }

    /// Sets the codec's attribute bits.
    pub(crate) fn set_codec(&mut self, codec: Codec) {
        self.attributes = self.attributes & !CODEC_BITS | codec as i16;
    }

    /// Marks the batch as part of a transaction.
    pub(crate) fn set_transactional(&mut self) {
        self.attributes |= TRANSACTIONAL;
    }

    /// Marks the batch as a broker's.
    pub(crate) fn set_control(&mut self) {
        self.attributes |= CONTROL;
    }
}

/// The sequence `delta` records after `sequence`; 0 follows `i32::MAX`.
pub(crate) fn add_sequence(sequence: i32, delta: i32) -> i32 {
    let modulus = i64::from(i32::MAX) + 1;
    ((i64::from(sequence) + i64::from(delta)).rem_euclid(modulus)) as i32
}
