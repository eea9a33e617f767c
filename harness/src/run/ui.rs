//! What a run tells the person who waits for it, on standard error.

use std::sync::Arc;

/// Tells one thing.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Where progress goes.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    quiet: bool,
}

impl Ui {
    /// Tells nothing when `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> Ui {
        Ui { quiet }
    }

    /// Tells one thing.
    pub fn say(self, text: &str) {
        if !self.quiet {
            crate::stderr::line(format_args!("{text}"));
        }
    }

    /// Tells things with the run's time before them.
    #[must_use]
    pub fn timed(self, clock: crate::clock::RunClock) -> Tell {
        Arc::new(move |text| {
            let seconds = clock.now_ns() as f64 / 1e9;
            self.say(&format!("{seconds:7.2} s  {text}"));
        })
    }
}
