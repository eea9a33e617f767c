//! One pass over the history: what happened when, boiled down to what the page shows.

mod bins;
mod glance;
mod level;
mod sessions;
mod window;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, thread};

use highwater_history::{
    FormatError, Key, TimeNs,
    event::{EventKind, OpenClient, OpenTopic, Process},
    reader::{HistoryReader, LineBlock},
    types::ProcessId,
};
use serde::Deserialize;

pub(crate) use bins::{Amount, Bins, Micros};
pub(crate) use level::Level;
pub(crate) use window::{Watch, Window};

use glance::Glance;
use sessions::Sessions;
use window::Windows;

/// Bytes of the history that one thread parses at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// What the history shows over time.
#[derive(Default)]
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
    /// Reads a history to its end; `watches` says around what a window is kept.
    pub(crate) fn read(
        mut history: HistoryReader,
        watches: Vec<Watch>,
    ) -> Result<Self, FormatError> {
        let mut pass = Pass {
            activity: Self::default(),
            sessions: Sessions::default(),
            windows: Windows::new(watches),
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        loop {
            let mut blocks = Vec::new();
            while blocks.len() < workers
                && let Some(block) = history.next_lines(BLOCK_BYTES)?
            {
                blocks.push(block);
            }
            if blocks.is_empty() {
                return pass.finish();
            }
            for (line, text, glance) in glance_at(&blocks) {
                if let Err(error) = glance.and_then(|glance| pass.observe(&glance, text)) {
                    history.broken(line, text, error.to_string())?;
                    return pass.finish();
                }
            }
        }
    }
}

/// A line with its number and what it says.
type Glanced<'a> = (u64, &'a str, Result<Glance<'a>, serde_json::Error>);

/// Parses the blocks at the same time; gives their lines in order.
fn glance_at(blocks: &[LineBlock]) -> impl Iterator<Item = Glanced<'_>> {
    let parse =
        |block| LineBlock::lines(block).map(|(n, text)| (n, text, serde_json::from_str(text)));
    let parsed: Vec<Vec<Glanced<'_>>> = thread::scope(|scope| {
        let workers: Vec<_> =
            blocks.iter().map(|block| scope.spawn(move || parse(block).collect())).collect();
        let parsed =
            workers.into_iter().map(|worker| worker.join().expect("parsing does not panic"));
        parsed.collect()
    });
    parsed.into_iter().flatten()
}

/// The pass while it goes on.
struct Pass {
    activity: Activity,
    sessions: Sessions,
    windows: Windows,
}

impl Pass {
    fn observe(&mut self, glance: &Glance<'_>, line: &str) -> Result<(), serde_json::Error> {
        self.activity.end_ns = self.activity.end_ns.max(glance.time);
        match glance.process {
            Process::Client(process) => self.observe_client(process, glance),
            Process::Nemesis => {
                let value = glance.value.map_or("", |value| value.get());
                let text = format!("{} {value}", glance.f);
                self.activity.nemesis.push((glance.time, text));
            }
            Process::Harness | Process::Other(_) => self.observe_open(glance)?,
        }
        self.windows.observe(glance, line);
        Ok(())
    }

    fn observe_open(&mut self, glance: &Glance<'_>) -> Result<(), serde_json::Error> {
        let Some(value) = glance.value else { return Ok(()) };
        match &*glance.f {
            "open" => self.sessions.open(&OpenClient::deserialize(value)?),
            "open-topic" => {
                let topic = OpenTopic::deserialize(value)?;
                self.activity.topics.insert(topic.key.clone(), topic);
            }
            _ => {}
        }
        Ok(())
    }

    fn observe_client(&mut self, process: ProcessId, glance: &Glance<'_>) {
        let (at, ops) = (glance.time, &glance.ops);
        if glance.kind == EventKind::Invoke {
            return self.sessions.invoke(process, glance.intended.unwrap_or(at));
        }
        let started = self.sessions.complete(process);
        if ops.read > 0 {
            self.activity.read.at(at).0 += ops.read;
        }
        if !matches!(&*glance.f, "send" | "txn") {
            return;
        }
        let of = self.activity.levels.entry(self.sessions.level(process)).or_default();
        if glance.kind == EventKind::Ok {
            of.acknowledged.at(at).0 += ops.acknowledged;
            if let Some(started) = started {
                of.latency.at(at).record(at.saturating_sub(started));
            }
        } else {
            of.not_ok.at(at).0 += 1;
            let failed = u64::from(glance.kind == EventKind::Fail);
            of.fail += failed;
            of.info += 1 - failed;
        }
    }

    fn finish(mut self) -> Result<Activity, FormatError> {
        self.activity.windows = self.windows.finish();
        Ok(self.activity)
    }
}
