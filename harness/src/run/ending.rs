//! The outcome of a run, from everything that it left.

use std::collections::BTreeMap;

use highwater_history::{
    Outcome,
    format::Document,
    outcome::{Crash, Ended, FinalPartition, LagWindow, Limit, Recovery, Traffic, Witness},
};
use highwater_workloads::Key;

use super::{
    evidence::{availability, dumps::replica_folder, segments},
    fail::Failure,
    play::Played,
    setup::Setup,
    world::World,
};
use crate::{
    cluster::{Life, NodeId},
    nemesis::{ClusterView, Partition},
    proxy::{Endpoint, Link},
    steps::Span,
};

/// What a run left.
pub struct Ending<'a> {
    /// What was decided before.
    pub setup: &'a Setup,
    /// What ran.
    pub world: &'a World,
    /// What was last observed.
    pub view: &'a ClusterView,
    /// What became of the schedule.
    pub played: Played,
    /// Whether the cluster recovered.
    pub recovery: Recovery,
    /// How far each key was read at the end.
    pub read_to: BTreeMap<Key, i64>,
    /// What the second witness says, where there is one.
    pub witness: Option<Witness>,
    /// When the harness was late.
    pub late: Vec<LagWindow>,
    /// What failed in the harness itself.
    pub failure: Option<String>,
}

impl Ending<'_> {
    /// Writes `outcome.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(self) -> Result<(), Failure> {
        let ended = if self.failure.is_some() { Ended::Failed } else { Ended::Complete };
        let mut outcome = Outcome::new(ended, self.world.clock.now_ns());
        outcome.events = Some(self.world.folder.count_events()?);
        outcome.written = Some(self.world.folder.count_written()?);
        outcome.limits = self.limits()?;
        outcome.partitions = self.partitions();
        outcome.crashes = self.world.cluster.crashes().iter().map(crash).collect();
        outcome.harness_failure = self.failure;
        outcome.recovery = Some(self.recovery);
        outcome.faults = self.played.faults;
        outcome.conditions = self.played.conditions;
        outcome.assertions = self.played.assertions;
        outcome.witness = self.witness;
        outcome.lag_windows = self.late;
        outcome.traffic = self.world.net.traffic().into_iter().map(traffic).collect();
        Ok(outcome.write(&self.world.folder.outcome_path())?)
    }

    /// The limits that the user set, and what was measured.
    fn limits(&self) -> Result<Vec<Limit>, Failure> {
        let limit = |name: &str, span: Span, key, (from, to): (u64, u64)| Limit {
            name: name.into(),
            key,
            limit_ms: span.0,
            took_ms: to.saturating_sub(from) / 1_000_000,
            from,
            to,
        };
        let mut limits = Vec::new();
        if let Some(span) = self.setup.max_recovery {
            let recovery = (self.recovery.healed_at, self.recovery.ended_at);
            limits.push(limit("max-recovery", span, None, recovery));
        }
        if let Some(span) = self.setup.max_unavailable {
            let gap = availability::longest_gap(&self.world.folder.history_path())?;
            let (key, during) =
                gap.map_or((None, (0, 0)), |gap| (Some(gap.key), (gap.from, gap.to)));
            limits.push(limit("max-unavailable", span, key, during));
        }
        Ok(limits)
    }

    fn log_start(&self, node: NodeId, key: Key) -> Option<i64> {
        let World { cluster, catalog, .. } = self.world;
        segments::log_start(&replica_folder(cluster, catalog, node, key)?)
    }

    /// Bytes in the segments of all replicas; none where one cannot be read.
    fn disk_bytes(&self, replicas: &[NodeId], key: Key) -> Option<u64> {
        let World { cluster, catalog, .. } = self.world;
        let bytes = |node| segments::bytes(&replica_folder(cluster, catalog, node, key)?).ok();
        replicas.iter().map(|node| bytes(*node)).sum()
    }

    fn partitions(&self) -> BTreeMap<highwater_history::Key, FinalPartition> {
        let catalog = &self.world.catalog;
        let entry = |key: Key| {
            let topic = catalog.topic(key).name.clone();
            let at = Partition { topic, index: catalog.partition(key) };
            let seen = self.view.partitions.get(&at)?;
            let leader = seen.leader;
            let partition = FinalPartition {
                leader: leader.map(|node| node.0),
                leader_epoch: seen.leader_epoch,
                isr: seen.isr.iter().map(|node| node.0).collect(),
                replicas: seen.replicas.iter().map(|node| node.0).collect(),
                log_start: leader.and_then(|leader| self.log_start(leader, key)),
                hw: seen.high_watermark,
                leo: leader.and_then(|leader| seen.leo.get(&leader).copied()),
                final_read_to: self.read_to.get(&key).copied(),
                disk_bytes: self.disk_bytes(&seen.replicas, key),
            };
            Some((catalog.name(key).into(), partition))
        };
        catalog.keys().filter_map(entry).collect()
    }
}

fn traffic((link, bytes): (Link, u64)) -> Traffic {
    let name = |end: Endpoint| end.to_string();
    Traffic { from: name(link.from), to: name(link.to), bytes }
}

fn crash(life: &Life) -> Crash {
    let exit = life.exit.expect("a life that crashed has ended");
    Crash { node: life.node.0, incarnation: life.incarnation, ended: exit.to_string() }
}
