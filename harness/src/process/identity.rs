//! Which process is meant: a pid together with its start time, so that a reused pid is a stranger.

use std::{fs, io};

use highwater_history::journal::ProcessIdentity;
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, kill_process_group, pidfd_open},
};
use serde::{Deserialize, Serialize};

pub use rustix::process::Signal;

/// One process of this machine's life: pid and start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OsProcess {
    /// The kernel's number for it; used again after its end.
    pub pid: i32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
}

/// What `/proc/PID/stat` says that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    state: char,
    start_ticks: u64,
}

impl OsProcess {
    /// Identifies the process that has `pid` now; `None` when there is none.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        read_stat(pid).map(|stat| Self { pid, start_ticks: stat.start_ticks })
    }

    /// Identifies a process that the heal journal names; `None` when the machine has been started
    /// again since.
    #[must_use]
    pub fn from_journal(identity: &ProcessIdentity) -> Option<Self> {
        let pid = i32::try_from(identity.pid).ok()?;
        let same_boot = identity.boot_id == boot_id();
        same_boot.then_some(Self { pid, start_ticks: identity.start_ticks })
    }

    /// What the heal journal says of it; `name` is for messages.
    #[must_use]
    pub fn for_journal(&self, name: &str) -> ProcessIdentity {
        ProcessIdentity {
            pid: self.pid as u32,
            start_ticks: self.start_ticks,
            boot_id: boot_id(),
            name: name.to_owned(),
        }
    }

    /// The kernel's state letter (R, S, T, Z, ...); `None` when the process is gone.
    #[must_use]
    pub fn state(&self) -> Option<char> {
        self.stat().map(|stat| stat.state)
    }

    /// Whether it runs or can run again: it exists and is no zombie.
    #[must_use]
    pub fn alive(&self) -> bool {
        self.state().is_some_and(|state| !matches!(state, 'Z' | 'X'))
    }

    /// Whether every thread of it is stopped by a signal.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.state() == Some('T')
    }

    /// Sends `signal` to the process group that it leads; `false` when the process is gone.
    ///
    /// The pidfd is opened before the start time is compared, so the process that was compared is
    /// the one that held the pid.
    ///
    /// # Errors
    /// When the system refuses the signal for another reason than absence.
    pub fn signal_group(&self, signal: Signal) -> io::Result<bool> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(false) };
        let held = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(held) => held,
            Err(Errno::SRCH) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if !self.alive() {
            return Ok(false);
        }
        let sent = kill_process_group(pid, signal);
        drop(held);
        match sent {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn stat(&self) -> Option<Stat> {
        read_stat(self.pid).filter(|stat| stat.start_ticks == self.start_ticks)
    }
}

/// The machine's present life; start times count from its beginning.
fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

fn read_stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The command's name stands in parentheses and may hold anything, so fields count from the last
/// closing one.
fn parse_stat(text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text = "42 (a) b (c)) T 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0";
        let stat = Stat { state: 'T', start_ticks: 98_765 };
        assert_eq!(parse_stat(text), Some(stat));
    }

    #[test]
    fn another_start_time_is_a_stranger() {
        let own = OsProcess::of(std::process::id() as i32).unwrap();
        assert!(own.alive());
        let reused = OsProcess { start_ticks: own.start_ticks + 1, ..own };
        assert!(!reused.alive());
        assert!(!reused.signal_group(Signal::KILL).unwrap());
    }

    #[test]
    fn a_process_of_another_boot_is_a_stranger() {
        let own = OsProcess::of(std::process::id() as i32).unwrap();
        let journalled = own.for_journal("node 1");
        assert_eq!(OsProcess::from_journal(&journalled), Some(own));
        let older = ProcessIdentity { boot_id: "another".to_owned(), ..journalled };
        assert_eq!(OsProcess::from_journal(&older), None);
    }
}
