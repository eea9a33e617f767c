//! `compare.json`: the figures of a comparison, and how runs become one.

use std::collections::BTreeMap;

use highwater_history::{
    format::Document,
    verdict::{AnomalyCounts, Validity},
};
use serde::{Deserialize, Serialize};

use super::{
    advice,
    model::{CalmCell, Cell, CellFigures, DownCell, Setting},
};

/// A comparison: many runs, one table for each kind of cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Format version, 1.
    pub format: u64,
    /// What was compared: the target and its version.
    pub target: String,
    /// The command that repeats it.
    pub command: String,
    /// Settings that all clusters share.
    pub shared: BTreeMap<String, String>,
    /// How many runs it was going to have: fewer are there where it was cut short.
    #[serde(default)]
    pub planned: u64,
    /// Each kind of cluster, in the order of the command.
    pub clusters: Vec<Cluster>,
    /// What to choose and what it takes, in sentences computed from the figures.
    pub advice: Vec<String>,
    /// What each setting costs and lost, in such sentences.
    #[serde(default)]
    pub findings: Vec<String>,
}

impl Document for Comparison {
    const WHAT: &'static str = "comparison";
    const FORMAT: u64 = 1;
}

/// What was measured on one kind of cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// In which settings it differs from the others; empty when it is the only one.
    pub differs: BTreeMap<String, String>,
    /// The table, in the order of settings.
    pub cells: Vec<Cell>,
    /// With one replica down, two, ..., by settings.
    pub down: Vec<DownCell>,
    /// Figures without faults, by acks level, flush and offered load.
    pub calm: Vec<CalmCell>,
    /// What the links between brokers carried without faults, by offered load.
    pub links: Vec<LinkCost>,
    /// Every run.
    pub runs: Vec<ComparedRun>,
}

/// What the links between brokers carried in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkCost {
    /// Sends a second over the whole run that were asked for.
    pub offered_per_s: u32,
    /// Bytes for each acknowledged byte of payload, all keys together; at acks=0 for each sent.
    pub bytes_per_byte: f64,
}

/// A run that the comparison stands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// Its schedule.
    pub schedule: String,
    /// Its seed.
    pub seed: u64,
    /// Its folder, in the comparison's.
    pub folder: String,
    /// Its verdict.
    pub verdict: Validity,
    /// Its anomalies.
    pub anomalies: AnomalyCounts,
    /// The one command that repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// Why it is not in the figures; none where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// The figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum Figures {
    /// With one fault after the other.
    Faulty(BTreeMap<Setting, CellFigures>),
    /// Without faults.
    Calm(Vec<CalmCell>, Option<LinkCost>),
    /// With more and more replicas down.
    Down(Vec<DownCell>),
}

impl Cluster {
    /// Puts the runs of one kind of cluster together; one without figures is listed only.
    pub fn of(
        differs: BTreeMap<String, String>,
        all: Vec<(ComparedRun, Option<Figures>)>,
    ) -> Cluster {
        let mut cluster = Cluster { differs, ..Cluster::default() };
        let mut by_setting: BTreeMap<Setting, Vec<CellFigures>> = BTreeMap::new();
        for (run, figures) in all {
            cluster.runs.push(run);
            match figures {
                None => {}
                Some(Figures::Faulty(cells)) => {
                    for (setting, figures) in cells {
                        by_setting.entry(setting).or_default().push(figures);
                    }
                }
                Some(Figures::Calm(cells, link)) => {
                    cluster.calm.extend(cells);
                    cluster.links.extend(link);
                }
                Some(Figures::Down(cells)) => cluster.down.extend(cells),
            }
        }
        let cells = by_setting.into_iter().map(|(setting, runs)| Cell::of(setting, &runs));
        cluster.cells = cells.collect();
        cluster
    }

    /// In which settings it differs from the others, in words; empty when it is the only one.
    pub fn name(&self) -> String {
        let words = self.differs.iter().map(|(name, value)| format!("{name}={value}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Comparison {
    /// A comparison of these kinds of cluster, which was going to have so many runs.
    pub fn of(
        (target, command): (String, String),
        shared: BTreeMap<String, String>,
        (clusters, planned): (Vec<Cluster>, u64),
    ) -> Comparison {
        let advice::Advice { choice: advice, findings } = advice::of(&clusters);
        let format = Self::FORMAT;
        Comparison { format, target, command, shared, planned, clusters, advice, findings }
    }

    /// Every run of every kind of cluster.
    pub fn runs(&self) -> impl Iterator<Item = &ComparedRun> {
        self.clusters.iter().flat_map(|cluster| &cluster.runs)
    }
}

#[cfg(test)]
mod tests {
    use highwater_history::{event::Acks, verdict::Validity};

    use super::*;

    fn run(left_out: Option<&str>) -> ComparedRun {
        ComparedRun {
            schedule: "compare".to_owned(),
            seed: 1,
            folder: "runs/compare-1".to_owned(),
            verdict: left_out.map_or(Validity::Valid, |_| Validity::Unknown),
            anomalies: AnomalyCounts::new(),
            reproduce: None,
            left_out: left_out.map(str::to_owned),
        }
    }

    #[test]
    fn a_run_without_figures_is_listed_and_counts_nowhere() {
        let setting = Setting { acks: Acks::All, min_isr: 2, unclean: false, flushed: false };
        let figures = CellFigures { acknowledged: 10, ..CellFigures::default() };
        let counted = Figures::Faulty([(setting, figures)].into());
        let all = vec![(run(None), Some(counted)), (run(Some("no final dump")), None)];
        let cluster = Cluster::of(BTreeMap::new(), all);
        assert_eq!(cluster.runs.len(), 2);
        assert_eq!((cluster.cells[0].runs, cluster.cells[0].acknowledged.total), (1, 10.0));
    }
}
