//! The one monotonic clock of a run, and its place on the wall clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds since the run's start; all times in a run folder are on this clock.
#[derive(Debug, Clone, Copy)]
pub struct RunClock {
    zero: Instant,
    unix_zero_ns: u64,
}

impl RunClock {
    /// Starts the clock at zero now.
    #[must_use]
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { zero: Instant::now(), unix_zero_ns: since_epoch.as_nanos() as u64 }
    }

    /// Nanoseconds since the run's start.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.zero.elapsed().as_nanos() as u64
    }

    /// The wall clock's time at zero, in nanoseconds since 1970.
    #[must_use]
    pub fn unix_zero_ns(&self) -> u64 {
        self.unix_zero_ns
    }

    /// The instant of zero, for libraries that count in instants.
    #[must_use]
    pub fn zero(&self) -> Instant {
        self.zero
    }
}
