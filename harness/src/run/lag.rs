//! The harness's own lateness: while it cannot keep up, it must not judge the target's progress.

use std::time::Duration;

use highwater_history::outcome::LagWindow;
use highwater_workloads::Time;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::clock::RunClock;

/// How often the loop looks at the clock.
const BEAT: Duration = Duration::from_millis(50);
/// Lateness that counts.
const LATE: Duration = Duration::from_millis(250);

/// Watches the runtime until `stop` turns true; gives the windows in which it was late.
pub async fn watch(clock: RunClock, mut stop: watch::Receiver<bool>) -> Vec<LagWindow> {
    let mut windows = Vec::new();
    loop {
        let wanted = Instant::now() + BEAT;
        tokio::select! {
            () = sleep_until(wanted) => {}
            _ = stop.wait_for(|stop| *stop) => return windows,
        }
        let lag = wanted.elapsed();
        if lag > LATE {
            let to = clock.now_ns();
            let lag = lag.as_nanos() as u64;
            windows.push(LagWindow { from: to.saturating_sub(lag), to, lag });
        }
    }
}

/// The windows in which the clients' loop was late.
#[must_use]
pub fn of_clients(late: &[(Time, Time)]) -> Vec<LagWindow> {
    let window = |(from, to): &(Time, Time)| LagWindow {
        from: from.as_nanos(),
        to: to.as_nanos(),
        lag: (*to - *from).as_nanos() as u64,
    };
    late.iter().map(window).filter(|window| window.lag > LATE.as_nanos() as u64).collect()
}
