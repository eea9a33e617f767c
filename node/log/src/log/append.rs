//! Appending batches, and closing a segment when it is full.

use bytes::Bytes;

use super::Log;
use crate::batch::{Batch, BatchHeader, Batches, NO_LEADER_EPOCH};
use crate::disk::{Disk, DiskError};
use crate::segment::Segment;
use crate::store::StoreError;

impl<F> Log<F> {
    /// Appends whole batches that have their place; one write unless they span segments.
    pub(crate) fn append<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        bytes: Bytes,
        now_ms: i64,
        oldest_producer_ms: i64,
    ) -> Result<(), StoreError> {
        let batches = Batches::new(bytes.clone()).collect::<Result<Vec<Batch>, _>>();
        let batches = batches.map_err(|error| StoreError::BadAppend(error.to_string()))?;
        self.check(&batches)?;
        let (mut rest, mut bytes) = (&batches[..], bytes);
        while let Some(first) = rest.first() {
            let length = self.fitting(rest);
            let group: usize = rest[..length].iter().map(|batch| batch.bytes().len()).sum();
            let last_offset = rest[length - 1].header().last_offset();
            if self.must_roll(group as u64, first.header(), last_offset, now_ms) {
                self.roll(disk, first.header().base_offset, now_ms, oldest_producer_ms)?;
            }
            self.append_group(disk, &bytes.split_to(group), &rest[..length])?;
            rest = &rest[length..];
        }
        if self.log_end > self.recovery_point {
            self.unsynced_since_ms.get_or_insert(now_ms);
        }
        Ok(())
    }

    /// Offsets go on from the log end (rules 1 and 13), epochs never back (rule 3).
    fn check(&self, batches: &[Batch]) -> Result<(), StoreError> {
        let mut next_offset = self.log_end;
        let mut epoch = self.epochs.latest().unwrap_or(-1);
        for header in batches.iter().map(Batch::header) {
            check_batch(header, next_offset, epoch).map_err(StoreError::BadAppend)?;
            next_offset = header.next_offset();
            epoch = header.leader_epoch;
        }
        Ok(())
    }

    /// How many batches at the front fit together into one segment: at least one.
    fn fitting(&self, batches: &[Batch]) -> usize {
        let mut bytes = 0;
        let base = batches[0].header().base_offset;
        let fits = |batch: &&Batch| {
            bytes += batch.bytes().len() as u64;
            let near = batch.header().last_offset() - base < i64::from(i32::MAX);
            bytes <= self.config.segment_bytes && near
        };
        batches.iter().take_while(fits).count().max(1)
    }

    fn must_roll(&self, bytes: u64, first: &BatchHeader, last_offset: i64, now_ms: i64) -> bool {
        let active = self.segments.last().expect("a log has a segment");
        !active.can_express(last_offset) || active.is_full(&self.config, bytes, first, now_ms)
    }

    fn append_group<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        bytes: &[u8],
        batches: &[Batch],
    ) -> Result<(), DiskError> {
        let config = self.config;
        self.active().append(disk, &config, bytes, batches)?;
        let mut new_epoch = false;
        for batch in batches {
            let header = batch.header();
            new_epoch |= self.epochs.assign(header.leader_epoch, header.base_offset);
            self.producers.apply(batch);
            self.log_end = header.next_offset();
        }
        if new_epoch { self.write_epochs(disk, false) } else { Ok(()) }
    }

    /// Closes the active segment, durably, and begins the next one at `base_offset`.
    fn roll<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        base_offset: i64,
        now_ms: i64,
        oldest_producer_ms: i64,
    ) -> Result<(), DiskError> {
        debug_assert!(base_offset >= self.log_end, "a segment begins where the log ends");
        self.active().sync(disk)?;
        self.active().close(disk)?;
        self.write_snapshot(disk, oldest_producer_ms)?;
        self.segments.push(Segment::create(disk, &self.dir, base_offset, now_ms)?);
        // Without this, power loss could take the new segment's name with all records in it.
        self.names_unsynced = true;
        self.sync(disk)
    }
}

/// Says why a batch cannot follow what ends at `next_offset` with this epoch.
pub(super) fn check_batch(
    header: &BatchHeader,
    next_offset: i64,
    epoch: i32,
) -> Result<(), String> {
    let BatchHeader { base_offset, leader_epoch, last_offset_delta, .. } = *header;
    if base_offset < next_offset || last_offset_delta < 0 || header.next_offset() <= base_offset {
        return Err(format!("a batch at offset {base_offset} cannot follow the end {next_offset}"));
    }
    if leader_epoch < epoch && leader_epoch != NO_LEADER_EPOCH {
        return Err(format!("leader epoch {leader_epoch} cannot follow epoch {epoch}"));
    }
    Ok(())
}
