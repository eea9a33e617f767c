//! The shell's clock: Unix time that never steps back.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use highwater_broker::core::types::Time;

/// Starts at the wall clock's time and then follows the monotonic clock, so that a step of the wall
/// clock neither fences a broker nor stops its timers.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    started_ns: u64,
}

impl Clock {
    /// A clock that agrees with the wall clock now.
    pub fn start() -> Clock {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { started: Instant::now(), started_ns: unix.as_nanos() as u64 }
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        Time(self.started_ns + self.started.elapsed().as_nanos() as u64)
    }

    /// The present moment in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        (self.now().0 / 1_000_000) as i64
    }

    /// How long it is until `time`; zero when it has passed.
    pub fn until(&self, time: Time) -> Duration {
        Duration::from_nanos(time.since(self.now()))
    }
}
