//! How long a key went without an acknowledged send: the longest unavailability of a run.

use std::{collections::BTreeMap, path::Path};

use highwater_history::{
    Event, EventValue, FormatError, Key,
    event::{EventKind, Function, MicroOp},
    reader::HistoryReader,
};

/// A time in which a key asked for sends and got none acknowledged, nanoseconds of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The key.
    pub key: Key,
    /// When it first asked.
    pub from: u64,
    /// When one was acknowledged, or anybody last asked or was told anything.
    pub to: u64,
}

impl Gap {
    fn lasted(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// The longest gap of all keys; none where nobody sent.
///
/// # Errors
/// When the history cannot be read.
pub fn longest_gap(history: &Path) -> Result<Option<Gap>, FormatError> {
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
    longest: Option<Gap>,
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
                    let gap = Gap { key: key.clone(), from: since, to: event.time };
                    self.longest = longer(self.longest.take(), gap);
                }
            }
            _ => {}
        }
    }

    /// The longest one; those that are open at the end count as long as they were seen.
    fn longest(self) -> Option<Gap> {
        let last = self.last;
        let open = self.waiting.into_iter().map(|(key, from)| Gap { key, from, to: last });
        open.fold(self.longest, longer)
    }
}

fn longer(known: Option<Gap>, gap: Gap) -> Option<Gap> {
    known.filter(|known| known.lasted() >= gap.lasted()).or(Some(gap))
}

#[cfg(test)]
mod tests {
    use highwater_history::Event;

    use super::{Gap, Gaps};

    fn gap(from: u64, to: u64) -> Option<Gap> {
        Some(Gap { key: "all-0".into(), from, to })
    }

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
        assert_eq!(gaps.longest(), gap(10, 45));
    }

    #[test]
    fn a_gap_that_never_closes_counts() {
        let mut gaps = Gaps::default();
        for (time, kind) in [(5, "invoke"), (7, "ok"), (10, "invoke"), (20, "fail"), (90, "fail")] {
            gaps.event(&event(time, kind, time));
        }
        assert_eq!(gaps.longest(), gap(10, 90));
    }
}
