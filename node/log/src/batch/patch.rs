//! Changing a batch's header in place, with a new checksum only where the change needs one.

use bytes::{BufMut, Bytes, BytesMut};

use super::Batch;
use super::header::{ATTRIBUTES_AT, CRC_AT};

/// Where the leader epoch stands, outside the checksummed bytes.
const LEADER_EPOCH_AT: usize = 12;
/// Where the largest timestamp stands, inside the checksummed bytes.
const MAX_TIMESTAMP_AT: usize = 35;
/// The attribute bit that says that the leader set the timestamps.
const LOG_APPEND_TIME: u8 = 0x08;

/// Gives a batch its place in the log: base offset and leader epoch (rules 1 and 3), and with
/// `append_time` (Unix milliseconds) the leader's timestamp instead of the producer's.
///
/// The bytes are changed in place when `batch` is their only owner, and copied once otherwise.
pub fn stamp(batch: Batch, base_offset: i64, leader_epoch: i32, append_time: Option<i64>) -> Bytes {
    let bytes = batch.into_bytes();
    let mut bytes = bytes.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
    (&mut bytes[..8]).put_i64(base_offset);
    (&mut bytes[LEADER_EPOCH_AT..]).put_i32(leader_epoch);
    if let Some(time) = append_time {
        bytes[ATTRIBUTES_AT + 1] |= LOG_APPEND_TIME;
        set_max_timestamp(&mut bytes, time);
    }
    bytes.freeze()
}

/// Says that the producer set the timestamps, and which is the largest.
pub(crate) fn set_create_time(batch: &mut [u8], largest: i64) {
    batch[ATTRIBUTES_AT + 1] &= !LOG_APPEND_TIME;
    set_max_timestamp(batch, largest);
}

/// Writes the largest timestamp and the checksum that follows from it.
fn set_max_timestamp(batch: &mut [u8], time: i64) {
    (&mut batch[MAX_TIMESTAMP_AT..]).put_i64(time);
    let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
    (&mut batch[CRC_AT..]).put_u32(crc);
}
