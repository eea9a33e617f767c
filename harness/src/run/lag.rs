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

/// Watches the runtime until `stop` turns true; tells `windows` those in which it was late.
pub async fn watch(
    clock: RunClock,
    mut stop: watch::Receiver<bool>,
    windows: watch::Sender<Vec<LagWindow>>,
) {
    loop {
        let wanted = Instant::now() + BEAT;
        tokio::select! {
            () = sleep_until(wanted) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        let lag = wanted.elapsed();
        if lag > LATE {
            let to = clock.now_ns();
            let lag = lag.as_nanos() as u64;
            let window = LagWindow { from: to.saturating_sub(lag), to, lag };
            windows.send_modify(|windows| windows.push(window));
        }
    }
}

/// How much of the time from an instant on was lost to lateness.
#[must_use]
pub fn since(from: u64, windows: &[LagWindow]) -> Duration {
    let lost = windows.iter().map(|lag| lag.to.saturating_sub(lag.from.max(from)));
    Duration::from_nanos(lost.sum())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_lost_since_counts() {
        let windows = [(1, 4), (8, 12), (20, 21)].map(|(from, to)| LagWindow { from, to, lag: 0 });
        assert_eq!(since(10, &windows), Duration::from_nanos(3));
    }
}
