//! Disks: each executes its process's commands one after the other, in its own time.

use highwater_broker::{Input, OpId};
use highwater_log::{Command, LogId};
use highwater_node_core::types::Time;
use rand::RngExt;

use super::checks::{Checked, METADATA};
use super::net::Place;
use super::world::{Event, MICRO, World};

impl World {
    pub fn queue_command(&mut self, place: Place, op: OpId, command: Command) {
        let process = self.hosts.get_mut(&place).and_then(|host| host.process.as_mut());
        let process = process.expect("commands come from processes");
        process.disk_queue.push_back((op, command));
        if !process.disk_busy {
            process.disk_busy = true;
            self.schedule_disk(place);
        }
    }

    fn schedule_disk(&mut self, place: Place) {
        let host = &self.hosts[&place];
        let (run, longest) = (host.run, if host.slow_disk { 40_000 } else { 400 });
        let at = Time(self.now.0 + self.rng.random_range(20..longest) * MICRO);
        self.schedule(at, Event::Disk { place, run });
    }

    /// The disk's thread takes its next command; a paused process's thread stands still too.
    pub fn run_disk(&mut self, place: Place, run: u64) -> Checked {
        let now_ms = (self.now.0 / 1_000_000) as i64;
        let host = self.hosts.get_mut(&place).expect("events name hosts");
        if host.run != run {
            return Ok(());
        }
        if host.paused {
            self.schedule_disk(place);
            return Ok(());
        }
        let Some(process) = host.process.as_mut() else { return Ok(()) };
        let Some((op, command)) = process.disk_queue.pop_front() else {
            process.disk_busy = false;
            return Ok(());
        };
        let done = process.store.execute(now_ms, command.clone());
        if let Command::Open { log, dir, .. } = &command {
            process.logs.insert(*log, partition_of(dir));
        }
        let touched = log_of(&command).and_then(|log| process.logs.get(&log)).copied();
        self.schedule_disk(place);
        if let Some(partition) = touched {
            self.checks.executed(place, partition, &command, &done)?;
        }
        self.input(place, Input::Disk { op, done })
    }
}

fn partition_of(dir: &str) -> i32 {
    let index = dir.strip_prefix("t-").map(|index| index.parse().expect("a partition's number"));
    index.unwrap_or(METADATA)
}

fn log_of(command: &Command) -> Option<LogId> {
    match command {
        Command::Open { log, .. }
        | Command::Append { log, .. }
        | Command::Truncate { log, .. }
        | Command::TruncateFully { log, .. } => Some(*log),
        _ => None,
    }
}
