//! Producer snapshots on disk, and replaying the log from the latest good one.

use super::Log;
use crate::batch::Batch;
use crate::disk::{Disk, DiskError};
use crate::file::name::FileKind;
use crate::file::snapshot;
use crate::producers::Producers;
use crate::segment::Segment;
use crate::store::StoreError;

impl<F> Log<F> {
    fn snapshot_path(&self, offset: i64) -> String {
        format!("{}/{}", self.dir, FileKind::ProducerSnapshot.name(offset))
    }

    /// Writes a snapshot of producer state at the log end, without those last heard of before
    /// `oldest_producer_ms`. It has a checksum: half of it is as good as none.
    pub(super) fn write_snapshot<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        oldest_producer_ms: i64,
    ) -> Result<(), DiskError> {
        let offset = self.log_end;
        if self.snapshots.last() == Some(&offset) || offset == self.segments[0].base_offset() {
            return Ok(());
        }
        self.producers.expire(oldest_producer_ms);
        let content = snapshot::format(self.producers.entries());
        crate::file::replace(disk, &self.snapshot_path(offset), &content, false)?;
        self.snapshots.push(offset);
        Ok(())
    }

    /// Forgets producers last heard of before `oldest_ms`.
    pub(crate) fn expire_producers(&mut self, oldest_ms: i64) {
        self.producers.expire(oldest_ms);
    }

    /// Sets producer state to what the log says of `offset`: the latest good snapshot before it,
    /// and the records after that (rule 45).
    pub(super) fn rebuild_producers<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        offset: i64,
    ) -> Result<(), StoreError> {
        let (from, producers) = self.read_snapshot(disk, offset)?;
        self.producers = producers;
        if from >= offset {
            return Ok(());
        }
        for at in self.segment_of(from)..self.segments.len() {
            let segment = &self.segments[at];
            if segment.base_offset() >= offset {
                break;
            }
            let producers = &mut self.producers;
            segment.replay(disk, |batch: &Batch| {
                let inside = batch.header().base_offset >= from;
                if inside && batch.header().last_offset() < offset {
                    producers.apply(batch);
                }
            })?;
        }
        Ok(())
    }

    /// The latest readable snapshot at or before `offset`; an empty one at the log start if there
    /// is none.
    fn read_snapshot<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        offset: i64,
    ) -> Result<(i64, Producers), StoreError> {
        let usable = self.snapshots.partition_point(|snapshot| *snapshot <= offset);
        for at in self.snapshots[..usable].iter().rev() {
            let content = crate::file::read(disk, &self.snapshot_path(*at))?.unwrap_or_default();
            if let Ok(entries) = snapshot::parse(&content) {
                return Ok((*at, Producers::from_snapshot(entries)));
            }
        }
        Ok((self.log_start, Producers::default()))
    }

    /// Removes snapshots that no segment begins with, but for the latest: clean stops leave them.
    pub(super) fn remove_stray_snapshots<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
    ) -> Result<(), DiskError> {
        let latest = self.snapshots.last().copied();
        let bases: Vec<i64> = self.segments.iter().map(Segment::base_offset).collect();
        let used = |offset: &i64| Some(*offset) == latest || bases.binary_search(offset).is_ok();
        let (kept, stray): (Vec<i64>, Vec<i64>) = self.snapshots.iter().partition(|at| used(at));
        self.snapshots = kept;
        stray.into_iter().try_for_each(|offset| disk.remove(&self.snapshot_path(offset)))
    }

    /// Removes the snapshots after `offset`. True when there were any.
    pub(super) fn remove_snapshots_after<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        offset: i64,
    ) -> Result<bool, DiskError> {
        let kept = self.snapshots.partition_point(|snapshot| *snapshot <= offset);
        let removed = self.snapshots.split_off(kept);
        for snapshot in &removed {
            disk.remove(&self.snapshot_path(*snapshot))?;
        }
        Ok(!removed.is_empty())
    }
}
