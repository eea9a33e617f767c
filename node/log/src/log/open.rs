//! Opening a log: creating it, trusting it after a clean stop, repairing it after a crash.

use std::sync::Arc;

use super::Log;
use super::append::check_batch;
use crate::disk::{Disk, DiskError};
use crate::epochs::EpochCache;
use crate::file::checkpoint::{self, LEADER_EPOCHS};
use crate::file::name::FileKind;
use crate::file::partition_metadata;
use crate::producers::Producers;
use crate::segment::{Cut, Segment};
use crate::store::{LogConfig, StoreError};

/// What is known of a log before its directory is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The topic's id; none for the metadata log.
    pub(crate) topic_id: Option<u128>,
    /// True after a clean stop: the content need not be checked.
    pub(crate) clean: bool,
    /// From the checkpoint: everything before it is durable.
    pub(crate) recovery_point: i64,
    /// From the checkpoint: the log's first offset.
    pub(crate) log_start: i64,
}

impl<F> Log<F> {
    /// Opens the log in `dir`, and says what recovery cut off its end.
    pub(crate) fn open<D: Disk<File = F>>(
        disk: &mut D,
        dir: &str,
        origin: &Origin,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<(Log<F>, Option<Cut>), StoreError> {
        let dir: Arc<str> = dir.into();
        disk.create_dir(&dir)?;
        let files = Files::list(disk, &dir)?;
        let topic_id = claim(disk, &dir, origin.topic_id)?;
        let known_epochs = read_epochs(disk, &dir)?;
        let mut segments = Vec::with_capacity(files.segments.len());
        for base_offset in &files.segments {
            segments.push(Segment::open(disk, &dir, *base_offset, now_ms)?);
        }
        if segments.is_empty() {
            segments.push(Segment::create(disk, &dir, origin.log_start.max(0), now_ms)?);
        }
        let mut log = Log {
            topic_id,
            config,
            log_start: origin.log_start.max(segments[0].base_offset()),
            log_end: segments[0].base_offset(),
            recovery_point: segments[0].base_offset(),
            segments,
            epochs: known_epochs.clone().unwrap_or_default(),
            epochs_durable: true,
            producers: Producers::default(),
            snapshots: files.snapshots,
            unsynced_since_ms: None,
            names_unsynced: true,
            dir,
        };
        let cut = if files.segments.is_empty() {
            None
        } else if known_epochs.is_some() {
            log.load(disk, origin)?
        } else {
            // Only the batches still know the epochs: all of them are read.
            log.load(disk, &Origin { clean: false, recovery_point: 0, ..*origin })?
        };
        log.finish(disk, &known_epochs.unwrap_or_default(), now_ms)?;
        Ok((log, cut))
    }

    /// Finds the log end and producer state; says what was cut off.
    fn load<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        origin: &Origin,
    ) -> Result<Option<Cut>, StoreError> {
        if origin.clean
            && let Some(log_end) = self.resume(disk)?
        {
            self.log_end = log_end;
            self.recovery_point = log_end;
            self.names_unsynced = false;
            self.rebuild_producers(disk, log_end)?;
            return Ok(None);
        }
        let cut = self.recover(disk, origin.recovery_point)?;
        // What a crash left in memory only must be durable before the replica counts again.
        self.active().sync(disk)?;
        self.sync(disk)?;
        Ok(cut)
    }

    /// Brings the rest of what is derived in line with the log end.
    fn finish<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        known_epochs: &EpochCache,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        self.remove_snapshots_after(disk, self.log_end)?;
        self.remove_stray_snapshots(disk)?;
        if self.log_start > self.log_end {
            // Everything that is left was deleted before the crash (rule 78).
            self.truncate_fully(disk, self.log_start, now_ms)?;
        }
        self.epochs.truncate_end(self.log_end);
        self.epochs.truncate_start(self.log_start);
        if self.epochs != *known_epochs {
            self.write_epochs(disk, false)?;
        }
        Ok(())
    }

    fn resume<D: Disk<File = F>>(&mut self, disk: &mut D) -> Result<Option<i64>, DiskError> {
        let config = self.config;
        self.active().resume(disk, &config)
    }

    /// Checks the segments from the one that holds the recovery point; cuts at the first batch that
    /// is broken or does not continue the log, and removes what would come after.
    fn recover<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        recovery_point: i64,
    ) -> Result<Option<Cut>, StoreError> {
        let first = self.segment_of(recovery_point);
        self.log_end = self.segments[first].base_offset();
        self.epochs.truncate_end(self.log_end);
        self.rebuild_producers(disk, self.log_end)?;
        for at in first..self.segments.len() {
            let cut = self.recover_segment(disk, at)?;
            if let Some(cut) = cut {
                return self.remove_after_cut(disk, at, cut).map(Some);
            }
            if at + 1 < self.segments.len() {
                self.segments[at].sync(disk)?;
                self.segments[at].close(disk)?;
            }
        }
        Ok(None)
    }

    fn recover_segment<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        at: usize,
    ) -> Result<Option<Cut>, DiskError> {
        let Log { segments, epochs, producers, log_end, config, .. } = self;
        if segments[at].base_offset() < *log_end {
            let reason = format!("a segment begins before the end {log_end} of the one before");
            return segments[at].recover(disk, config, |_| Err(reason.clone()));
        }
        segments[at].recover(disk, config, |batch| {
            let header = batch.header();
            check_batch(header, *log_end, epochs.latest().unwrap_or(-1))?;
            epochs.assign(header.leader_epoch, header.base_offset);
            producers.apply(batch);
            *log_end = header.next_offset();
            Ok(())
        })
    }

    /// Nothing after a hole may stay; an emptied segment goes too, unless it is the only one.
    fn remove_after_cut<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        at: usize,
        mut cut: Cut,
    ) -> Result<Cut, StoreError> {
        let keep = if self.segments[at].size() == 0 && at > 0 { at } else { at + 1 };
        while self.segments.len() > keep {
            let segment = self.segments.pop().expect("there are more than are kept");
            cut.bytes += segment.size();
            segment.remove(disk)?;
        }
        let config = self.config;
        if keep == at {
            self.active().resume(disk, &config)?;
        }
        Ok(cut)
    }
}

/// The files of a partition's directory.
#[derive(Debug, Default)]
struct Files {
    segments: Vec<i64>,
    snapshots: Vec<i64>,
}

impl Files {
    /// Lists the directory and removes what an interrupted operation left.
    fn list<D: Disk>(disk: &mut D, dir: &str) -> Result<Files, StoreError> {
        let mut files = Files::default();
        for entry in disk.list(dir)? {
            let path = format!("{dir}/{}", entry.name);
            match FileKind::parse(&entry.name) {
                Some((FileKind::Log, offset)) => files.segments.push(offset),
                Some((FileKind::ProducerSnapshot, offset)) => files.snapshots.push(offset),
                Some(_) => {}
                None if is_leftover(&entry.name) => disk.remove(&path)?,
                None if entry.name.ends_with(".swap") => {
                    let reason = "compaction was interrupted; let Apache Kafka finish it first";
                    return Err(StoreError::Corrupt { path, reason: reason.to_owned() });
                }
                None => {}
            }
        }
        Ok(files)
    }
}

fn is_leftover(name: &str) -> bool {
    [".deleted", ".cleaned", ".tmp"].iter().any(|suffix| name.ends_with(suffix))
}

/// Makes sure that the directory belongs to the topic (rule 76), and notes it if it is new.
fn claim<D: Disk>(
    disk: &mut D,
    dir: &str,
    wanted: Option<u128>,
) -> Result<Option<u128>, StoreError> {
    let path = format!("{dir}/{}", partition_metadata::FILE);
    let text = crate::file::read(disk, &path)?.unwrap_or_default();
    let found = std::str::from_utf8(&text).ok().and_then(partition_metadata::parse);
    match (found, wanted) {
        (Some(found), Some(wanted)) if found != wanted => {
            Err(StoreError::TopicId { dir: dir.to_owned(), found, wanted })
        }
        (None, Some(wanted)) => {
            let text = partition_metadata::format(wanted);
            // Without it the records could join a topic of the same name (rule 76).
            crate::file::replace(disk, &path, text.as_bytes(), true)?;
            Ok(Some(wanted))
        }
        (found, _) => Ok(found),
    }
}

/// The epoch checkpoint; none when it is missing or does not parse.
fn read_epochs<D: Disk>(disk: &mut D, dir: &str) -> Result<Option<EpochCache>, DiskError> {
    let text = crate::file::read(disk, &format!("{dir}/{LEADER_EPOCHS}"))?.unwrap_or_default();
    let text = std::str::from_utf8(&text).unwrap_or_default();
    // An empty file is what a power loss can leave of one that was not synced.
    let entries = checkpoint::parse_epochs(text).ok().filter(|_| !text.is_empty());
    Ok(entries.map(|entries| EpochCache::from_checkpoint(&entries)))
}
