//! Producer snapshots, version 1: each producer's state before an offset, with a checksum.

use bytes::{Buf, BufMut};

use crate::batch::{NO_SEQUENCE, add_sequence};
use crate::store::{ProducerBatch, ProducerEntry};

const VERSION: i16 = 1;
/// Version, checksum, count.
const HEADER_BYTES: usize = 10;
/// Where the checksummed bytes begin.
const ENTRIES_AT: usize = 6;
const ENTRY_BYTES: usize = 46;
const NONE: i64 = -1;

/// The file's content; of each producer only its last batch is kept.
pub fn format<'a>(producers: impl ExactSizeIterator<Item = &'a ProducerEntry>) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + producers.len() * ENTRY_BYTES);
    out.put_i16(VERSION);
    out.put_u32(0);
    out.put_i32(producers.len() as i32);
    producers.for_each(|producer| put(&mut out, producer));
    let crc = crc32c::crc32c(&out[ENTRIES_AT..]);
    (&mut out[2..]).put_u32(crc);
    out
}

/// Reads the file's content; the error says what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Vec<ProducerEntry>, String> {
    if bytes.len() < HEADER_BYTES {
        return Err(format!("{} bytes are no producer snapshot", bytes.len()));
    }
    let mut header = bytes;
    let (version, crc, count) = (header.get_i16(), header.get_u32(), header.get_i32());
    if version != VERSION {
        return Err(format!("version {version} of the producer snapshot is not supported"));
    }
    if crc32c::crc32c(&bytes[ENTRIES_AT..]) != crc {
        return Err("the checksum of the producer snapshot is wrong".to_owned());
    }
    if header.len() != (count.max(0) as usize).saturating_mul(ENTRY_BYTES) {
        return Err(format!("{count} producers do not fill {} bytes", header.len()));
    }
    Ok(header.chunks(ENTRY_BYTES).map(take).collect())
}

fn put(out: &mut Vec<u8>, producer: &ProducerEntry) {
    let last = producer.batches.last();
    let delta = last.map_or(0, |batch| batch.last_offset - batch.base_offset);
    out.put_i64(producer.producer_id);
    out.put_i16(producer.producer_epoch);
    out.put_i32(last.map_or(NO_SEQUENCE, |batch| batch.last_sequence));
    out.put_i64(last.map_or(NONE, |batch| batch.last_offset));
    out.put_i32(delta as i32);
    out.put_i64(producer.last_timestamp);
    out.put_i32(producer.coordinator_epoch);
    out.put_i64(producer.open_transaction.unwrap_or(NONE));
}

fn take(mut bytes: &[u8]) -> ProducerEntry {
    let producer_id = bytes.get_i64();
    let producer_epoch = bytes.get_i16();
    let last_sequence = bytes.get_i32();
    let last_offset = bytes.get_i64();
    let delta = bytes.get_i32();
    let last_timestamp = bytes.get_i64();
    let batch = ProducerBatch {
        base_sequence: add_sequence(last_sequence, -delta),
        last_sequence,
        base_offset: last_offset.wrapping_sub(i64::from(delta)),
        last_offset,
        timestamp: last_timestamp,
    };
    ProducerEntry {
        producer_id,
        producer_epoch,
        batches: if last_offset == NONE { Vec::new() } else { vec![batch] },
        last_timestamp,
        coordinator_epoch: bytes.get_i32(),
        open_transaction: Some(bytes.get_i64()).filter(|offset| *offset != NONE),
    }
}
