//! Who led each partition when: elections from the committed metadata log, else from samples.

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, NodeId, Offset, TimeNs, dumps::Moment};

use crate::{
    evidence::Evidence,
    index::{Index, KeyIndex},
    registry::{self, Registration, Registry},
};

/// One change of a partition's leader epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Where it is on record, for findings.
    pub on_record: String,
    /// When, nanoseconds of the run; exact to a millisecond in the metadata log.
    pub at: TimeNs,
    /// The epoch that began.
    pub epoch: LeaderEpoch,
    /// The leader, none while there is none.
    pub leader: Option<NodeId>,
    /// The leader before.
    pub previous: Option<NodeId>,
    /// Whether the leader was outside ISR and ELR.
    pub unclean: bool,
    /// Whether the topic's setting at that time allowed an unclean election.
    pub unclean_allowed: bool,
}

impl Election {
    /// One sentence for findings.
    pub fn describe(&self) -> String {
        let name = |node: Option<NodeId>| node.map_or("nobody".to_owned(), |n| format!("node {n}"));
        format!(
            "{}: epoch {}, leader {} after {}{}",
            self.on_record,
            self.epoch,
            name(self.leader),
            name(self.previous),
            if self.unclean { ", unclean" } else { "" },
        )
    }
}

/// Elections of every partition.
#[derive(Debug, Default)]
pub struct Leadership {
    by_partition: Elections,
    by_key: BTreeMap<String, Vec<Election>>,
    source: Source,
}

/// Where elections are known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Nowhere.
    #[default]
    None,
    /// Samples: they may miss an election, and do not tell whether one was unclean.
    Samples,
    /// The metadata log, as far as its file goes before it was cut.
    CutMetadata,
    /// The whole committed metadata log.
    Metadata,
}

impl Leadership {
    /// What metadata log or samples say.
    pub fn of(evidence: &Evidence, registry: &Registry) -> Self {
        if evidence.is_bare() || evidence.metadata.is_empty() {
            return Self::of_samples(evidence);
        }
        let source = match registry.is_whole {
            true => Source::Metadata,
            false => Source::CutMetadata,
        };
        let partitions = registry.partitions.iter();
        let mut by_partition: Elections =
            partitions.map(|(at, states)| (at.clone(), elections_of(states))).collect();
        leave_out_the_end(&mut by_partition, evidence);
        Self { by_partition, by_key: BTreeMap::new(), source }
    }

    fn of_samples(evidence: &Evidence) -> Self {
        let mut leadership = Self::default();
        for (sample, state) in evidence.partition_samples() {
            leadership.source = Source::Samples;
            let elections = leadership.by_key.entry(state.key.to_string()).or_default();
            let previous = elections.last();
            if previous.is_some_and(|last: &Election| last.epoch >= state.leader_epoch) {
                continue;
            }
            elections.push(Election {
                on_record: format!("sample of node {} at {} ns", sample.node, sample.answered),
                at: sample.answered,
                epoch: state.leader_epoch,
                leader: state.leader,
                previous: previous.and_then(|last| last.leader),
                unclean: false,
                unclean_allowed: false,
            });
        }
        leadership
    }

    /// Where elections are known from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The elections of a key in epoch order.
    pub fn of_key(&self, key: &KeyIndex) -> &[Election] {
        let found = registry::find(&self.by_partition, key);
        found.or_else(|| self.by_key.get(key.key.as_str())).map_or(&[], Vec::as_slice)
    }

    /// The election under which a node led at a time, the latest that the clocks allow; a deposed
    /// leader counts under its last one.
    pub fn led_at_latest(
        elections: &[Election],
        node: NodeId,
        at: TimeNs,
    ) -> Option<(usize, &Election)> {
        let led = |election: &Election| {
            election.leader == Some(node) && election.at <= at.saturating_add(CLOCK_SLACK_NS)
        };
        elections.iter().enumerate().rfind(|(_, election)| led(election))
    }

    /// The election under which a node surely led at a time already.
    pub fn led_at_earliest(
        elections: &[Election],
        node: NodeId,
        at: TimeNs,
    ) -> Option<(usize, &Election)> {
        let led = |election: &Election| {
            election.leader == Some(node) && election.at.saturating_add(CLOCK_SLACK_NS) <= at
        };
        elections.iter().enumerate().rfind(|(_, election)| led(election))
    }

    /// How many times leadership moved from one broker to another, over all keys.
    pub fn leader_changes(&self, index: &Index) -> u64 {
        let moves = |key: &KeyIndex| {
            let mut leaders: Vec<_> = self.of_key(key).iter().filter_map(|e| e.leader).collect();
            leaders.dedup();
            leaders.len().saturating_sub(1) as u64
        };
        index.keys.iter().map(moves).sum()
    }
}

type Elections = BTreeMap<(String, i32), Vec<Election>>;

/// The changes of a partition that gave it another epoch.
fn elections_of(states: &[Registration]) -> Vec<Election> {
    let mut elections: Vec<Election> = Vec::new();
    let mut leader = None;
    for state in states {
        if elections.last().is_none_or(|last| last.epoch != state.leader_epoch) {
            elections.push(Election {
                on_record: format!("metadata record {}", state.record),
                at: state.at,
                epoch: state.leader_epoch,
                leader: state.leader,
                previous: leader,
                unclean: state.unclean,
                unclean_allowed: state.unclean_allowed,
            });
        }
        leader = state.leader;
    }
    elections
}

/// Elections after the last final dump show how the run stopped its nodes, one after the other:
/// they excuse nothing that the dumps show.
fn leave_out_the_end(elections: &mut Elections, evidence: &Evidence) {
    let finals = evidence.dumps.iter().map(|(_, dump)| &dump.header);
    let finals = finals.filter(|header| header.moment == Moment::Final);
    let Some(last) = finals.map(|header| header.at).max() else { return };
    let end = last.saturating_add(CLOCK_SLACK_NS);
    for elections in elections.values_mut() {
        elections.retain(|election| election.at <= end);
    }
}

/// How far the controller's wall clock, in milliseconds, may be off the run's clock.
pub const CLOCK_SLACK_NS: TimeNs = 10_000_000;

/// The first offset of an epoch in a leader's log, by its epoch checkpoint: that of the smallest
/// epoch from there on, or the log's end when there is none.
pub fn start_of_epoch(epochs: &[(LeaderEpoch, Offset)], epoch: LeaderEpoch, end: Offset) -> Offset {
    let later = epochs.iter().filter(|(known, _)| *known >= epoch);
    later.map(|(_, start)| *start).min().unwrap_or(end)
}
