//! What each command does.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::checkpoints::Checkpoints;
use super::{
    AppendEnd, Command, Completion, Done, FoundLog, LogConfig, LogId, LogState, Opened, Store,
    StoreError,
};
use crate::disk::Disk;
use crate::file::name::{METADATA_DIR, deleted_dir, is_deleted_dir, parse_dir, stray_dir};
use crate::file::{clean_shutdown, partition_metadata};
use crate::log::{Log, Origin};
use crate::segment::ReadLimits;

impl<D: Disk> Store<D> {
    /// Executes a command other than an append.
    pub(super) fn run(&mut self, now_ms: i64, command: Command) -> Completion {
        self.check_healthy()?;
        match command {
            Command::Find => self.find(),
            Command::Open { log, dir, topic_id, config } => {
                self.open(now_ms, log, &dir, topic_id, config)
            }
            Command::Append { .. } => unreachable!("appends have a way of their own"),
            Command::Read { log, from, upto, max_bytes, at_least_one } => {
                let limits = ReadLimits { upto, max_bytes, at_least_one };
                let (disk, log) = self.log(log)?;
                Ok(Done::Records { batches: log.read(disk, from, limits)? })
            }
            Command::OffsetForTime { log, query, upto } => {
                let (disk, log) = self.log(log)?;
                Ok(Done::TimedOffset(log.offset_for_time(disk, query, upto)?))
            }
            Command::AssignEpoch { log, epoch, start_offset } => {
                let (disk, log) = self.log(log)?;
                log.assign_epoch(disk, epoch, start_offset)?;
                Ok(Done::EpochAssigned)
            }
            Command::Truncate { log, to } => {
                self.change_end(now_ms, log, |disk, log| log.truncate(disk, to, now_ms))
            }
            Command::TruncateFully { log, start } => {
                self.change_end(now_ms, log, |disk, log| log.truncate_fully(disk, start, now_ms))
            }
            Command::Configure { log, config } => {
                self.log(log)?.1.configure(config);
                Ok(Done::Configured)
            }
            Command::Sync { log } => {
                self.sync(log).map(|point| Done::Synced { recovery_point: point })
            }
            Command::Delete { log } => self.delete(log),
            Command::SetAside { dir, id } => self.set_aside(&dir, id),
            Command::Close { log } => self.close(now_ms, log).map(|()| Done::Closed),
            Command::Checkpoint { high_watermarks } => {
                self.expire_producers(now_ms);
                self.checkpoint(&high_watermarks)?;
                Ok(Done::Checkpointed)
            }
            Command::CleanShutdown { high_watermarks, broker_epoch } => {
                self.clean_shutdown(now_ms, &high_watermarks, broker_epoch)
            }
            Command::WriteFile { path, content } => {
                crate::file::replace(&mut self.disk, &path, &content, true)?;
                Ok(Done::FileWritten)
            }
            Command::ReadFile { path } => Ok(Done::File(crate::file::read(&mut self.disk, &path)?)),
            Command::Sizes => Ok(self.sizes()),
        }
    }

    fn log(&mut self, id: LogId) -> Result<(&mut D, &mut Log<D::File>), StoreError> {
        let log = self.logs.get_mut(&id).ok_or(StoreError::Unknown(id))?;
        Ok((&mut self.disk, log))
    }

    fn oldest_producer_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.producer_expiration_ms)
    }

    /// Forgets silent producers (rule 44): not only when segments end, which may never happen.
    fn expire_producers(&mut self, now_ms: i64) {
        let since = now_ms.saturating_sub(self.producers_checked_ms);
        if (0..self.producer_check_ms).contains(&since) {
            return;
        }
        self.producers_checked_ms = now_ms;
        let oldest = self.oldest_producer_ms(now_ms);
        for log in self.logs.values_mut() {
            log.expire_producers(oldest);
        }
    }

    fn find(&mut self) -> Completion {
        self.checkpoints = Checkpoints::read(&mut self.disk)?;
        let mark = crate::file::read(&mut self.disk, clean_shutdown::FILE)?;
        self.clean = mark.is_some();
        if self.clean {
            // Durably, or a later power loss would look like a clean stop.
            self.disk.remove(clean_shutdown::FILE)?;
            self.disk.sync_dir("")?;
        }
        let mut logs = Vec::new();
        for entry in self.disk.list("")?.into_iter().filter(|entry| entry.is_dir) {
            if is_deleted_dir(&entry.name) {
                self.disk.remove_dir(&entry.name)?;
            } else if parse_dir(&entry.name).is_some() && entry.name != METADATA_DIR {
                logs.push(self.found(entry.name)?);
            }
        }
        let dirs = logs.iter().map(|found: &FoundLog| found.dir.clone());
        self.unchecked = if self.clean { BTreeSet::new() } else { dirs.collect() };
        let text = mark.map(|mark| String::from_utf8_lossy(&mark).into_owned());
        let broker_epoch = text.and_then(|text| clean_shutdown::parse(&text));
        Ok(Done::Found { logs, clean: self.clean, broker_epoch })
    }

    fn found(&mut self, dir: String) -> Result<FoundLog, StoreError> {
        let path = format!("{dir}/{}", partition_metadata::FILE);
        let text = crate::file::read(&mut self.disk, &path)?.unwrap_or_default();
        let topic_id = partition_metadata::parse(&String::from_utf8_lossy(&text));
        Ok(FoundLog { dir, topic_id })
    }

    fn open(
        &mut self,
        now_ms: i64,
        id: LogId,
        dir: &str,
        topic_id: Option<u128>,
        config: LogConfig,
    ) -> Completion {
        parse_dir(dir).ok_or_else(|| StoreError::BadName(dir.to_owned()))?;
        let known = |offsets: &std::collections::BTreeMap<String, i64>| {
            offsets.get(dir).copied().unwrap_or(0)
        };
        let origin = Origin {
            topic_id,
            clean: self.clean,
            recovery_point: known(&self.checkpoints.recovery_points),
            log_start: known(&self.checkpoints.log_starts),
        };
        let (log, cut) = Log::open(&mut self.disk, dir, &origin, config, now_ms)?;
        let state = self.live_state(&log, now_ms);
        self.logs.insert(id, log);
        self.unchecked.remove(dir);
        self.lower_checkpoints(id)?;
        let high_watermark = self.checkpoints.high_watermarks.get(dir).copied().unwrap_or(0);
        Ok(Done::Opened(Opened {
            high_watermark: high_watermark.clamp(state.log_start, state.log_end),
            cut_bytes: cut.as_ref().map_or(0, |cut| cut.bytes),
            cut_reason: cut.map(|cut| cut.reason),
            state,
        }))
    }

    /// The log's state with those producers that have not expired (rule 44).
    fn live_state(&self, log: &Log<D::File>, now_ms: i64) -> LogState {
        let oldest_ms = self.oldest_producer_ms(now_ms);
        let mut state = log.state();
        state
            .producers
            .retain(|entry| entry.open_transaction.is_some() || entry.last_timestamp >= oldest_ms);
        state
    }

    /// Appends; gives where the log ends then.
    pub(super) fn append(
        &mut self,
        now_ms: i64,
        id: LogId,
        batches: Bytes,
    ) -> Result<AppendEnd, StoreError> {
        self.check_healthy()?;
        let oldest_ms = self.oldest_producer_ms(now_ms);
        let (disk, log) = self.log(id)?;
        log.append(disk, batches, now_ms, oldest_ms)?;
        Ok(AppendEnd { log_end: log.log_end(), segment_start: log.segment_start() })
    }

    fn change_end(
        &mut self,
        now_ms: i64,
        id: LogId,
        change: impl FnOnce(&mut D, &mut Log<D::File>) -> Result<(), StoreError>,
    ) -> Completion {
        let (disk, log) = self.log(id)?;
        change(disk, log)?;
        let state = self.live_state(&self.logs[&id], now_ms);
        self.lower_checkpoints(id)?;
        Ok(Done::Truncated(state))
    }

    /// Recovery trusts what is before a recovery point, so the files must never claim too much.
    fn lower_checkpoints(&mut self, id: LogId) -> Result<(), StoreError> {
        let log = self.logs.get(&id).ok_or(StoreError::Unknown(id))?;
        if self.checkpoints.lower(log.dir(), log.recovery_point(), log.log_end()) {
            self.checkpoints.write(&mut self.disk)?;
        }
        Ok(())
    }

    /// Makes a log durable; gives its recovery point.
    pub(super) fn sync(&mut self, id: LogId) -> Result<i64, StoreError> {
        self.check_healthy()?;
        let (disk, log) = self.log(id)?;
        log.sync(disk)?;
        Ok(log.recovery_point())
    }

    fn delete(&mut self, id: LogId) -> Completion {
        let log = self.logs.remove(&id).ok_or(StoreError::Unknown(id))?;
        // First, or a new topic of this name would start with the old one's offsets.
        if self.checkpoints.forget(log.dir()) {
            self.checkpoints.write(&mut self.disk)?;
        }
        let deleted = deleted_dir(log.dir(), log.topic_id());
        self.disk.remove_dir(&deleted)?;
        self.disk.rename(log.dir(), &deleted)?;
        self.disk.sync_dir("")?;
        drop(log);
        self.disk.remove_dir(&deleted)?;
        Ok(Done::Deleted)
    }

    fn set_aside(&mut self, dir: &str, id: u128) -> Completion {
        parse_dir(dir).ok_or_else(|| StoreError::BadName(dir.to_owned()))?;
        debug_assert!(self.logs.values().all(|log| log.dir() != dir), "a stray is not open");
        // First, or a new topic of this name would start with the old one's offsets.
        if self.checkpoints.forget(dir) {
            self.checkpoints.write(&mut self.disk)?;
        }
        let aside = stray_dir(dir, id);
        self.disk.rename(dir, &aside)?;
        self.disk.sync_dir("")?;
        self.unchecked.remove(dir);
        Ok(Done::SetAside { dir: aside })
    }

    fn close(&mut self, now_ms: i64, id: LogId) -> Result<(), StoreError> {
        let log = self.logs.remove(&id).ok_or(StoreError::Unknown(id))?;
        let oldest_ms = self.oldest_producer_ms(now_ms);
        Ok(log.close(&mut self.disk, oldest_ms)?)
    }

    fn checkpoint(&mut self, high_watermarks: &[(LogId, i64)]) -> Result<(), StoreError> {
        for log in self.logs.values().filter(|log| log.dir() != METADATA_DIR) {
            let dir = log.dir().to_owned();
            if log.starts_inside_segment() {
                self.checkpoints.log_starts.insert(dir.clone(), log.log_start());
            }
            self.checkpoints.recovery_points.insert(dir, log.recovery_point());
        }
        for (id, high_watermark) in high_watermarks {
            let log = self.logs.get(id).ok_or(StoreError::Unknown(*id))?;
            self.checkpoints.high_watermarks.insert(log.dir().to_owned(), *high_watermark);
        }
        Ok(self.checkpoints.write(&mut self.disk)?)
    }

    fn clean_shutdown(
        &mut self,
        now_ms: i64,
        high_watermarks: &[(LogId, i64)],
        broker_epoch: Option<i64>,
    ) -> Completion {
        let logs: Vec<LogId> = self.logs.keys().copied().collect();
        for log in &logs {
            self.sync(*log)?;
        }
        self.checkpoint(high_watermarks)?;
        logs.into_iter().try_for_each(|log| self.close(now_ms, log))?;
        // A log that nobody has checked since a crash must be checked at the next start.
        if self.unchecked.is_empty() {
            let mark = clean_shutdown::format(broker_epoch);
            crate::file::replace(&mut self.disk, clean_shutdown::FILE, mark.as_bytes(), true)?;
        }
        Ok(Done::Stopped)
    }

    fn sizes(&mut self) -> Done {
        let logs = self.logs.iter().map(|(id, log)| (*id, log.size())).collect();
        Done::Sizes { logs, volume: self.disk.volume() }
    }
}
