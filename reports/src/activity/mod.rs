//! One pass over the history: what happened when, boiled down to what the page shows.

mod bins;
mod level;
mod sessions;
mod window;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, rc::Rc};

use highwater_history::{
    Event, EventValue, FormatError, Key, TimeNs,
    event::{Ack, EventKind, Function, MicroOp, OpenTopic, Process},
};

pub(crate) use bins::{Amount, Bins, Micros};
pub(crate) use level::Level;
pub(crate) use window::{Watch, Window, Windows};

use sessions::Sessions;

/// What the history shows over time.
pub(crate) struct Activity {
    /// Time of the last event, nanoseconds of the run.
    pub end_ns: TimeNs,
    /// Sends by the producer's acks.
    pub levels: BTreeMap<Level, LevelActivity>,
    /// Records that polls returned, by time.
    pub read: Bins<Amount>,
    /// What keys stand for.
    pub topics: BTreeMap<Key, OpenTopic>,
    /// What the nemesis said, by time.
    pub nemesis: Vec<(TimeNs, String)>,
    /// Operations around what is of interest, in the order of the watches.
    pub windows: Vec<Window>,
}

/// The sends of one acks level.
#[derive(Default)]
pub(crate) struct LevelActivity {
    /// Records acknowledged (with acks=0: sent), by time of the completion.
    pub acknowledged: Bins<Amount>,
    /// Operations that ended fail or info, by time of the completion.
    pub not_ok: Bins<Amount>,
    /// Latencies of ok operations from their intended start, by time of the completion.
    pub latency: Bins<Micros>,
    /// Operations that ended fail.
    pub fail: u64,
    /// Operations that ended info.
    pub info: u64,
}

impl Activity {
    /// Reads all events, in order; `watches` says around what a window is kept.
    pub(crate) fn read(
        events: impl Iterator<Item = Result<Event, FormatError>>,
        watches: Vec<Watch>,
    ) -> Result<Self, FormatError> {
        let mut pass = Pass::new(watches);
        for event in events {
            pass.observe(Rc::new(event?));
        }
        Ok(pass.finish())
    }
}

/// The pass while it goes on.
struct Pass {
    activity: Activity,
    sessions: Sessions,
    windows: Windows,
}

impl Pass {
    fn new(watches: Vec<Watch>) -> Self {
        let activity = Activity {
            end_ns: 0,
            levels: BTreeMap::new(),
            read: Bins::default(),
            topics: BTreeMap::new(),
            nemesis: Vec::new(),
            windows: Vec::new(),
        };
        Self { activity, sessions: Sessions::default(), windows: Windows::new(watches) }
    }

    fn observe(&mut self, event: Rc<Event>) {
        self.activity.end_ns = self.activity.end_ns.max(event.time);
        match event.process {
            Process::Client(process) => self.observe_client(process, &event),
            Process::Nemesis => self.activity.nemesis.push((event.time, nemesis_text(&event))),
            Process::Harness | Process::Other(_) => self.observe_open(&event),
        }
        self.windows.observe(event);
    }

    fn observe_open(&mut self, event: &Event) {
        match &event.value {
            EventValue::Open(open) => self.sessions.open(open),
            EventValue::OpenTopic(topic) => {
                self.activity.topics.insert(topic.key.clone(), (**topic).clone());
            }
            _ => {}
        }
    }

    fn observe_client(&mut self, process: u64, event: &Event) {
        if event.kind == EventKind::Invoke {
            return self.sessions.invoke(process, event.intended.unwrap_or(event.time));
        }
        let started = self.sessions.complete(process);
        let EventValue::Ops(ops) = &event.value else { return };
        let mut acknowledged = 0;
        let mut read = 0;
        for op in ops {
            match op {
                MicroOp::Send { ack, .. } => acknowledged += u64::from(*ack != Ack::None),
                MicroOp::Poll { records } => {
                    read +=
                        records.iter().flatten().map(|(_, list)| list.len() as u64).sum::<u64>();
                }
            }
        }
        if read > 0 {
            self.activity.read.at(event.time).0 += read;
        }
        if event.f != Function::Poll {
            self.observe_send(self.sessions.level(process), event, started, acknowledged);
        }
    }

    fn observe_send(
        &mut self,
        level: Level,
        event: &Event,
        started: Option<TimeNs>,
        acknowledged: u64,
    ) {
        let of = self.activity.levels.entry(level).or_default();
        match event.kind {
            EventKind::Invoke => {}
            EventKind::Ok => {
                of.acknowledged.at(event.time).0 += acknowledged;
                if let Some(started) = started {
                    of.latency.at(event.time).record(event.time.saturating_sub(started));
                }
            }
            EventKind::Fail => {
                of.fail += 1;
                of.not_ok.at(event.time).0 += 1;
            }
            EventKind::Info => {
                of.info += 1;
                of.not_ok.at(event.time).0 += 1;
            }
        }
    }

    fn finish(self) -> Activity {
        Activity { windows: self.windows.finish(), ..self.activity }
    }
}

/// What the nemesis did, on one line.
fn nemesis_text(event: &Event) -> String {
    match &event.value {
        EventValue::Other(value) => format!("{} {value}", event.f.as_str()),
        _ => event.f.as_str().to_owned(),
    }
}
