//! What each replica's log on disk holds, kept from the disk commands that were executed.

use bytes::Bytes;
use highwater_log::batch::Batches;

/// One record as all replicas must hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The leader epoch of its batch.
    pub epoch: i32,
    /// Its batch's checksum and its place in the batch: equal only for the same record.
    pub id: u64,
    /// The value that a client sent; absent in control and metadata batches.
    pub value: Option<u64>,
}

/// One replica's log.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    entries: Vec<Entry>,
}

impl Shadow {
    /// The offset after the last record.
    pub fn end(&self) -> i64 {
        self.entries.len() as i64
    }

    /// The record at this offset.
    pub fn get(&self, offset: i64) -> Option<Entry> {
        self.entries.get(usize::try_from(offset).ok()?).copied()
    }

    /// All records, from offset 0.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds what a batch run holds; gives the offset of the first new record.
    pub fn append(&mut self, batches: Bytes) -> Result<i64, String> {
        let start = self.end();
        for batch in Batches::new(batches) {
            let batch = batch.map_err(|why| format!("a broken batch was appended: {why}"))?;
            let header = batch.header();
            if header.base_offset != self.end() {
                let (base, end) = (header.base_offset, self.end());
                return Err(format!("rule 1: a batch at {base} was appended to a log of {end}"));
            }
            let (epoch, crc) = (header.leader_epoch, u64::from(header.crc));
            let records = batch.records(1 << 20).map_err(|why| why.to_string())?;
            for (delta, record) in (0u64..).zip(records) {
                let value = record.map_err(|why| why.to_string())?.value;
                let value = value.as_deref().and_then(|v| v.try_into().ok());
                let value = value.map(u64::from_be_bytes);
                self.entries.push(Entry { epoch, id: crc << 16 | delta, value });
            }
        }
        Ok(start)
    }

    /// Cuts everything from this offset on.
    pub fn truncate(&mut self, to: i64) {
        self.entries.truncate(usize::try_from(to).unwrap_or(0));
    }
}
