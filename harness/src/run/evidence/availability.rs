//! How long a key went without an acknowledged send: the longest unavailability of a run.

use std::{collections::BTreeMap, path::Path};

use highwater_history::{
    Event, EventValue, FormatError, Key,
    event::{EventKind, Function, MicroOp},
    reader::HistoryReader,
};

/// The longest time that any key asked for a send and got none acknowledged: from, to, nanoseconds
/// of the run.
///
/// # Errors
/// When the history cannot be read.
pub fn longest_gap(history: &Path) -> Result<(u64, u64), FormatError> {
    let mut gaps = Gaps::default();
    for event in HistoryReader::open(history)? {
        gaps.event(&event?);
    }
    Ok(gaps.longest())
}

/// Keys that wait for an acknowledgement, and since when.
#[derive(Debug, Default)]
struct Gaps {
    waiting: BTreeMap<Key, u64>,
    longest: (u64, u64),
    /// When a send last began or ended: afterwards nobody asked any more.
    last: u64,
}

impl Gaps {
    fn event(&mut self, event: &Event) {
        let EventValue::Ops(ops) = &event.value else { return };
        let Some(MicroOp::Send { key, .. }) = ops.first() else { return };
        self.last = event.time;
        match (&event.f, event.kind) {
            (Function::Send, EventKind::Invoke) => {
                self.waiting.entry(key.clone()).or_insert(event.time);
            }
            (Function::Send, EventKind::Ok) => {
                if let Some(since) = self.waiting.remove(key) {
                    self.longest = longer(self.longest, (since, event.time));
                }
            }
            _ => {}
        }
    }

    /// The longest one; those that are open at the end count as long as they were seen.
    fn longest(&self) -> (u64, u64) {
        let open = self.waiting.values().map(|since| (*since, self.last));
        open.fold(self.longest, longer)
    }
}

fn longer(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    let length = |(from, to): (u64, u64)| to.saturating_sub(from);
    if length(b) > length(a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use highwater_history::Event;

    use super::Gaps;

    fn event(time: u64, kind: &str, value: u64) -> Event {
        let text = format!(
            r#"{{"index":0,"time":{time},"process":1,"type":"{kind}","f":"send",
            "value":[["send","all-0",{value}]]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn failures_do_not_end_a_gap() {
        let mut gaps = Gaps::default();
        let events = [(5, "invoke"), (7, "ok"), (10, "invoke"), (20, "fail"), (30, "invoke")];
        for (time, kind) in events.into_iter().chain([(45, "ok"), (50, "invoke")]) {
            gaps.event(&event(time, kind, time));
        }
        assert_eq!(gaps.longest(), (10, 45));
    }

    #[test]
    fn a_gap_that_never_closes_counts() {
        let mut gaps = Gaps::default();
        for (time, kind) in [(5, "invoke"), (7, "ok"), (10, "invoke"), (20, "fail"), (90, "fail")] {
            gaps.event(&event(time, kind, time));
        }
        assert_eq!(gaps.longest(), (10, 90));
    }
}
