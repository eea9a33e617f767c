//! Rows of `compare.json`: one choice of settings and what it costs and loses.

use std::{collections::BTreeMap, fmt};

use highwater_history::event::Acks;
use serde::{Deserialize, Serialize};

use super::spread::Spread;

/// One choice of settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// The producer's acks.
    pub acks: Acks,
    /// `min.insync.replicas`.
    pub min_isr: u32,
    /// `unclean.leader.election.enable`.
    pub unclean: bool,
    /// Whether every batch is flushed before it counts (`flush.messages=1`).
    pub flushed: bool,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "acks={}, min.insync.replicas={}, unclean election {}, {}",
            self.acks.as_str(),
            self.min_isr,
            if self.unclean { "on" } else { "off" },
            if self.flushed { "every batch flushed" } else { "no flush" },
        )
    }
}

/// What was lost in one run or many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Acknowledged records that are gone; of acks=0, sent ones.
    pub records: u64,
    /// Those that a clause permits, by clause.
    pub permitted: BTreeMap<String, u64>,
    /// Those that no clause permits.
    pub forbidden: u64,
    /// Those of which nobody can tell.
    pub undecided: u64,
    /// All of them, by the fault that caused them.
    pub by_fault: BTreeMap<String, u64>,
}

/// What losses are put down to, in the words of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByKind {
    /// Processes that were killed or stopped.
    pub kills: u64,
    /// Disks that were wiped.
    pub disks: u64,
    /// Machines without power.
    pub power: u64,
    /// Nobody can tell.
    pub other: u64,
}

impl Losses {
    /// The losses by the kind of fault that caused them.
    pub(super) fn by_kind(&self) -> ByKind {
        let mut kinds = ByKind::default();
        for (fault, lost) in &self.by_fault {
            let kind = match fault.split(' ').next() {
                Some("kill" | "stop") => &mut kinds.kills,
                Some("wipe") => &mut kinds.disks,
                Some("power-loss") => &mut kinds.power,
                _ => &mut kinds.other,
            };
            *kind += lost;
        }
        kinds
    }

    pub(super) fn add(&mut self, other: &Losses) {
        self.records += other.records;
        self.forbidden += other.forbidden;
        self.undecided += other.undecided;
        for (ours, theirs) in
            [(&mut self.permitted, &other.permitted), (&mut self.by_fault, &other.by_fault)]
        {
            for (name, count) in theirs {
                *ours.entry(name.clone()).or_default() += count;
            }
        }
    }
}

/// The figures of one cell in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellFigures {
    /// Records that were asked to be sent.
    pub sent: u64,
    /// Records that were acknowledged; of acks=0, those that were sent.
    pub acknowledged: u64,
    /// What is gone of them.
    pub losses: Losses,
    /// Records that stand in the log twice.
    pub duplicates: u64,
    /// The part of the time under faults in which sends were acknowledged, 0 to 1.
    pub availability: f64,
    /// The longest time from a heal to the next acknowledgement, milliseconds.
    pub recovery_ms: f64,
    /// Which of its settings were put to the test.
    pub exercised: BTreeMap<String, bool>,
}

/// One row of the table: a cell over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its settings.
    #[serde(flatten)]
    pub setting: Setting,
    /// Over how many runs.
    pub runs: u64,
    /// Records acknowledged, by run; of acks=0 sent.
    pub acknowledged: Spread,
    /// Records lost, by run.
    pub lost: Spread,
    /// What was lost, over all runs.
    pub losses: Losses,
    /// Duplicates, over all runs.
    pub duplicates: u64,
    /// The part of the time under faults in which sends were acknowledged, by run.
    pub availability: Spread,
    /// The longest time from a heal to the next acknowledgement, milliseconds, by run.
    pub recovery_ms: Spread,
    /// In how many runs each setting was put to the test.
    pub exercised: BTreeMap<String, u64>,
}

impl Cell {
    /// A cell from its figures, one a run.
    pub(super) fn of(setting: Setting, runs: &[CellFigures]) -> Cell {
        let spread = |of: fn(&CellFigures) -> f64| Spread::of(runs.iter().map(of));
        let mut losses = Losses::default();
        let mut exercised = BTreeMap::new();
        for run in runs {
            losses.add(&run.losses);
            for (name, was) in &run.exercised {
                *exercised.entry(name.clone()).or_default() += u64::from(*was);
            }
        }
        Cell {
            setting,
            runs: runs.len() as u64,
            acknowledged: spread(|run| run.acknowledged as f64),
            lost: spread(|run| run.losses.records as f64),
            losses,
            duplicates: runs.iter().map(|run| run.duplicates).sum(),
            availability: spread(|run| run.availability),
            recovery_ms: spread(|run| run.recovery_ms),
            exercised,
        }
    }

    /// Settings that no run put to the test.
    pub fn not_exercised(&self) -> impl Iterator<Item = &str> {
        let never = self.exercised.iter().filter(|(_, runs)| **runs == 0);
        never.map(|(name, _)| name.as_str())
    }
}

/// A latency's distribution, milliseconds; a quantile is none where too few were slower to tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The median.
    pub p50: Option<f64>,
    /// 99 of 100 are no slower.
    pub p99: Option<f64>,
    /// 999 of 1,000 are no slower.
    pub p99_9: Option<f64>,
}

/// The figures of one acks level and flush policy without faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalmCell {
    /// The producer's acks.
    pub acks: Acks,
    /// Whether every batch is flushed before it counts.
    pub flushed: bool,
    /// Sends a second over the whole run that were asked for.
    pub offered_per_s: u32,
    /// Sends of this cell.
    pub sends: u64,
    /// From the intended start of a send to its acknowledgement.
    pub latency_ms: Latency,
    /// From the acknowledgement of a record to the first poll that returned it, where polls did.
    pub visible_ms: Option<Latency>,
    /// Replicas that held a record a few milliseconds after its acknowledgement, on average: no
    /// more held it at the acknowledgement. None where no sample was near enough.
    pub copies: Option<f64>,
    /// Bytes in the replicas' logs for each acknowledged byte of payload; at acks=0 for each sent.
    #[serde(default)]
    pub disk_bytes_per_byte: Option<f64>,
}

/// What became of one choice of settings while a number of its replicas had lost power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DownCell {
    /// Its settings.
    #[serde(flatten)]
    pub setting: Setting,
    /// Where the controllers lived: in processes of their own, or combined with the brokers.
    pub controllers: Controllers,
    /// How many replicas were down.
    pub down: u32,
    /// The part of the time in which it could be written, 0 to 1, once the cluster knew.
    pub availability: f64,
    /// Records acknowledged over the whole run; of acks=0 sent.
    pub acknowledged: u64,
    /// Those that this power loss cost.
    pub lost: u64,
}

/// Where controllers live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Controllers {
    /// In processes of their own.
    Separate,
    /// In the brokers' processes.
    Combined,
}
