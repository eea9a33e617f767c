//! Lines on their way to standard error: a reader that does not read must not stop the node.

use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Lines that wait to be written, in order. When they are too many, further ones are counted and
/// dropped until those that wait are on their way.
#[derive(Debug)]
pub struct LogQueue {
    limit_bytes: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Whole lines.
    waiting: String,
    /// How many lines did not fit after those.
    dropped: u64,
    /// True while lines that were taken out are not written yet.
    writing: bool,
}

impl LogQueue {
    /// An empty queue for at most so many bytes.
    pub const fn new(limit_bytes: usize) -> LogQueue {
        let state = State { waiting: String::new(), dropped: 0, writing: false };
        LogQueue { limit_bytes, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds a whole line, or drops it. Never waits for whoever reads.
    pub fn push(&self, line: &str) {
        let mut state = self.lock();
        // Not one line after a dropped one: the count tells where the gap is.
        if state.dropped > 0 || state.waiting.len() + line.len() > self.limit_bytes {
            state.dropped += 1;
        } else {
            state.waiting.push_str(line);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Writes lines for ever; `gap` is the line that stands for so many dropped ones.
    pub fn write_all(&self, out: &mut dyn Write, gap: &dyn Fn(u64) -> String) {
        loop {
            let (mut lines, dropped) = self.take();
            if dropped > 0 {
                lines += &gap(dropped);
            }
            for line in lines.split_inclusive('\n') {
                // One write a line: a pipe takes it whole or, when it is full, not at all. A reader
                // that has gone away does not stop the node.
                let _ = out.write_all(line.as_bytes());
            }
            self.lock().writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits until there are lines to write.
    fn take(&self) -> (String, u64) {
        let state = self.lock();
        let idle = |state: &mut State| state.waiting.is_empty() && state.dropped == 0;
        let mut state = self.changed.wait_while(state, idle).expect("no holder of the lock panics");
        state.writing = true;
        (std::mem::take(&mut state.waiting), std::mem::take(&mut state.dropped))
    }

    /// Waits until all lines are written, at most so long. False when some are not.
    pub fn flush(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut state = self.lock();
        while state.writing || !state.waiting.is_empty() || state.dropped > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect("no holder of the lock panics").0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the lock panics")
    }
}

#[cfg(test)]
mod tests;
