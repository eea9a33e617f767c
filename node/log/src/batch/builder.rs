//! Builds one batch from records.

use bytes::{BufMut, Bytes, BytesMut};

use super::header::{ATTRIBUTES_AT, CRC_AT, MAGIC, PREFIX_BYTES};
use super::{
    BatchHeader, Codec, HEADER_BYTES, NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID,
    NO_SEQUENCE, NO_TIMESTAMP, RecordHeader, varint,
};

/// Collects records and gives a batch. As a client builds it: base offset 0, no leader epoch.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    header: BatchHeader,
    codec: Codec,
    records: BytesMut,
}

impl Default for BatchBuilder {
    fn default() -> BatchBuilder {
        BatchBuilder::new()
    }
}

impl BatchBuilder {
    /// An empty batch: not compressed, no producer, base offset 0.
    pub fn new() -> BatchBuilder {
        let header = BatchHeader {
            base_offset: 0,
            batch_length: 0,
            leader_epoch: NO_LEADER_EPOCH,
            magic: MAGIC,
            crc: 0,
            attributes: 0,
            last_offset_delta: -1,
            base_timestamp: NO_TIMESTAMP,
            max_timestamp: NO_TIMESTAMP,
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            base_sequence: NO_SEQUENCE,
            record_count: 0,
        };
        let records = BytesMut::new();
        BatchBuilder { header, codec: Codec::None, records }
    }

    /// Compresses the records.
    pub fn codec(mut self, codec: Codec) -> BatchBuilder {
        self.codec = codec;
        self
    }

    /// Makes it an idempotent producer's batch whose records have running sequences from
    /// `base_sequence`.
    pub fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> BatchBuilder {
        self.header.producer_id = id;
        self.header.producer_epoch = epoch;
        self.header.base_sequence = base_sequence;
        self
    }

    /// Gives it a place in a log, as a leader does.
    pub fn place(mut self, base_offset: i64, leader_epoch: i32) -> BatchBuilder {
        self.header.base_offset = base_offset;
        self.header.leader_epoch = leader_epoch;
        self
    }

    /// Marks it as part of a transaction.
    pub fn transactional(mut self) -> BatchBuilder {
        self.header.set_transactional();
        self
    }

    /// Marks it as written by a broker for brokers.
    pub fn control(mut self) -> BatchBuilder {
        self.header.set_control();
        self
    }

    /// Adds a record; the first one's timestamp (Unix milliseconds) is the batch's base.
    pub fn record(
        mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[RecordHeader],
    ) -> BatchBuilder {
        self.push(timestamp, key, value, headers);
        self
    }

    /// As [`BatchBuilder::record`], for use in loops.
    pub fn push(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[RecordHeader],
    ) {
        if self.header.record_count == 0 {
            self.header.base_timestamp = timestamp;
        }
        self.header.record_count += 1;
        self.header.last_offset_delta += 1;
        self.header.max_timestamp = self.header.max_timestamp.max(timestamp);
        let mut body = BytesMut::with_capacity(32 + value.map_or(0, <[u8]>::len));
        body.put_u8(0);
        varint::put(&mut body, timestamp - self.header.base_timestamp);
        varint::put(&mut body, i64::from(self.header.last_offset_delta));
        put_bytes(&mut body, key);
        put_bytes(&mut body, value);
        varint::put(&mut body, headers.len() as i64);
        for header in headers {
            put_bytes(&mut body, Some(&header.key));
            put_bytes(&mut body, header.value.as_deref());
        }
        varint::put(&mut self.records, body.len() as i64);
        self.records.put_slice(&body);
    }

    /// How many records were added.
    pub fn count(&self) -> usize {
        self.header.record_count as usize
    }

    /// The batch's bytes.
    pub fn build(mut self) -> Bytes {
        let body = self.codec.compress(self.records.freeze());
        self.header.set_codec(self.codec);
        self.header.batch_length = (HEADER_BYTES - PREFIX_BYTES + body.len()) as i32;
        let mut batch = BytesMut::with_capacity(HEADER_BYTES + body.len());
        self.header.write(&mut batch);
        batch.put_slice(&body);
        let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
        (&mut batch[CRC_AT..]).put_u32(crc);
        batch.freeze()
    }
}

fn put_bytes(out: &mut BytesMut, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            varint::put(out, bytes.len() as i64);
            out.put_slice(bytes);
        }
        None => varint::put(out, -1),
    }
}
