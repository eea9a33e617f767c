//! One batch, and the batches in a run of bytes.

use bytes::Bytes;

use super::header::{ATTRIBUTES_AT, HEADER_BYTES};
use super::{BatchError, BatchHeader, Records};

/// A whole batch: its header, and all its bytes, shared with where they came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    header: BatchHeader,
    bytes: Bytes,
}

impl Batch {
    /// Takes the first batch off `bytes`. Checks length and format, not the checksum.
    pub fn split_from(bytes: &mut Bytes) -> Result<Batch, BatchError> {
        let header = BatchHeader::parse(bytes)?;
        let size = header.size();
        if bytes.len() < size {
            let present = bytes.len() as u64;
            return Err(BatchError::Incomplete { needed: size as u64, present });
        }
        Ok(Batch { header, bytes: bytes.split_to(size) })
    }

    /// The header's fields.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The whole batch, header included.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The whole batch, header included, given up.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Compares the content with the checksum.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        let actual = crc32c::crc32c(&self.bytes[ATTRIBUTES_AT..]);
        if actual == self.header.crc {
            return Ok(());
        }
        Err(BatchError::Crc { declared: self.header.crc, actual })
    }

    /// The records, decompressed; at most `limit` bytes of them.
    pub fn records(&self, limit: usize) -> Result<Records, BatchError> {
        let codec = self.header.codec()?;
        let body = codec.decompress(self.bytes.slice(HEADER_BYTES..), limit)?;
        Ok(Records::new(&self.header, body))
    }
}

/// The batches in a run of bytes, in order. Ends at the first that is not whole or not a batch,
/// which is given as an error unless the bytes end exactly after a batch.
#[derive(Clone, Debug)]
pub struct Batches {
    rest: Bytes,
    failed: bool,
}

impl Batches {
    /// The batches in `bytes`; the first must begin at the front.
    pub fn new(bytes: Bytes) -> Batches {
        Batches { rest: bytes, failed: false }
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let batch = Batch::split_from(&mut self.rest);
        self.failed = batch.is_err();
        Some(batch)
    }
}
