//! The offset checkpoints of a log directory.

use std::collections::BTreeMap;

use crate::disk::{Disk, DiskError};
use crate::file::checkpoint::{
    self, HIGH_WATERMARKS, LOG_STARTS, PartitionOffset, RECOVERY_POINTS,
};
use crate::file::name::parse_dir;
use crate::store::StoreError;

/// Offsets by partition directory.
type Offsets = BTreeMap<String, i64>;

/// What the three checkpoint files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checkpoints {
    /// Everything before is durable.
    pub(super) recovery_points: Offsets,
    /// First offsets, where the first segment does not tell.
    pub(super) log_starts: Offsets,
    /// High watermarks.
    pub(super) high_watermarks: Offsets,
}

impl Checkpoints {
    /// Reads the files; a missing one is empty.
    pub(super) fn read<D: Disk>(disk: &mut D) -> Result<Checkpoints, StoreError> {
        Ok(Checkpoints {
            recovery_points: read(disk, RECOVERY_POINTS)?,
            log_starts: read(disk, LOG_STARTS)?,
            high_watermarks: read(disk, HIGH_WATERMARKS)?,
        })
    }

    /// Writes the files, durably.
    pub(super) fn write<D: Disk>(&self, disk: &mut D) -> Result<(), DiskError> {
        write(disk, RECOVERY_POINTS, &self.recovery_points)?;
        write(disk, LOG_STARTS, &self.log_starts)?;
        write(disk, HIGH_WATERMARKS, &self.high_watermarks)
    }

    /// Forgets a partition. True when it was known.
    pub(super) fn forget(&mut self, dir: &str) -> bool {
        let all = [&mut self.recovery_points, &mut self.log_starts, &mut self.high_watermarks];
        all.into_iter().fold(false, |known, offsets| offsets.remove(dir).is_some() | known)
    }

    /// Lowers a partition's offsets to what holds now. True when the files claim more than that, so
    /// that they must be written before anything else is.
    pub(super) fn lower(&mut self, dir: &str, recovery_point: i64, log_end: i64) -> bool {
        let lower = |offsets: &mut Offsets, limit: i64| {
            let too_high = offsets.get_mut(dir).filter(|offset| **offset > limit);
            too_high.map(|offset| *offset = limit).is_some()
        };
        lower(&mut self.recovery_points, recovery_point) | lower(&mut self.high_watermarks, log_end)
    }
}

fn read<D: Disk>(disk: &mut D, path: &str) -> Result<Offsets, StoreError> {
    let content = crate::file::read(disk, path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    let corrupt = |reason| StoreError::Corrupt { path: path.to_owned(), reason };
    let entries = checkpoint::parse_offsets(&text).map_err(corrupt)?;
    let keyed = entries.into_iter().map(|entry| {
        let dir = format!("{}-{}", entry.topic, entry.partition);
        (dir, entry.offset)
    });
    Ok(keyed.collect())
}

fn write<D: Disk>(disk: &mut D, path: &str, offsets: &Offsets) -> Result<(), DiskError> {
    let entry = |(dir, offset): (&String, &i64)| {
        let (topic, partition) = parse_dir(dir)?;
        Some(PartitionOffset { topic: topic.to_owned(), partition, offset: *offset })
    };
    let entries: Vec<PartitionOffset> = offsets.iter().filter_map(entry).collect();
    crate::file::replace(disk, path, checkpoint::format_offsets(&entries).as_bytes(), true)
}
