//! What the committed metadata log says of partitions, brokers and settings, one state after the
//! other.

mod replay;
mod settings;

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, NodeId, Offset, Promise, TimeNs};

use self::{replay::Replay, settings::Settings};
use crate::{evidence::Evidence, index::KeyIndex, leadership::CLOCK_SLACK_NS};

/// A partition from one change on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Offset of the metadata record.
    pub record: Offset,
    /// When, nanoseconds of the run, exact to a millisecond.
    pub at: TimeNs,
    /// The leader, none while there is none.
    pub leader: Option<NodeId>,
    /// Its epoch.
    pub leader_epoch: LeaderEpoch,
    /// It rises with every change (rule 25).
    pub partition_epoch: i32,
    /// In-sync replicas.
    pub isr: Vec<NodeId>,
    /// Eligible leader replicas.
    pub elr: Vec<NodeId>,
    /// Assigned replicas.
    pub replicas: Vec<NodeId>,
    /// Whether an unclean leader has not recovered yet (rule 28).
    pub recovering: bool,
    /// Whether this change elected a leader, the same again included.
    pub elected: bool,
    /// Whether that leader was outside ISR and ELR.
    pub unclean: bool,
    /// Whether the topic's setting allowed an unclean election then.
    pub unclean_allowed: bool,
    /// Whether eligible leader replicas were in use then.
    pub elr_enabled: bool,
    /// Members of the ISR that were fenced or stopping then.
    pub out_of_service: Vec<NodeId>,
}

/// A broker from one change on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerState {
    /// Offset of the metadata record.
    pub record: Offset,
    /// When, nanoseconds of the run.
    pub at: TimeNs,
    /// Whether it is neither fenced nor stopping.
    pub in_service: bool,
}

/// States of one partition in order.
pub type Registrations = Vec<Registration>;

/// Everything that the metadata log says.
#[derive(Debug, Default)]
pub struct Registry {
    /// By topic id and, where the name is known, by topic name.
    pub(crate) partitions: BTreeMap<(String, i32), Registrations>,
    brokers: BTreeMap<NodeId, Vec<BrokerState>>,
    settings: Settings,
    /// Whether eligible leader replicas were in use at any time.
    pub elr_enabled: bool,
    /// Whether the log is there as a whole.
    pub is_whole: bool,
}

impl Registry {
    /// Replays the metadata log; `said` is what the user says was promised.
    pub fn of(evidence: &Evidence, said: &Promise) -> Self {
        let Some(manifest) = evidence.manifest.as_ref().filter(|_| !evidence.metadata.is_empty())
        else {
            return Self::default();
        };
        let mut replay = Replay::new(manifest, said);
        for record in &evidence.metadata {
            replay.apply(record);
        }
        Self { is_whole: !evidence.metadata_is_cut, ..replay.finish() }
    }

    /// The states of a key in order; none where the log does not know it.
    pub fn of_key(&self, key: &KeyIndex) -> &[Registration] {
        find(&self.partitions, key).map_or(&[], Vec::as_slice)
    }

    /// The states that may have held at some instant of a time.
    pub fn during(states: &[Registration], (from, to): (TimeNs, TimeNs)) -> &[Registration] {
        let (first, end) = range_of(states, |state| state.at, from, to);
        &states[first..end]
    }

    /// Whether a broker was neither fenced nor stopping, at one instant of a time at least.
    pub fn may_be_in_service(&self, node: NodeId, (from, to): (TimeNs, TimeNs)) -> bool {
        let Some(states) = self.brokers.get(&node) else { return true };
        let (first, end) = range_of(states, |state| state.at, from, to);
        states[first..end].iter().any(|state| state.in_service)
    }

    /// The changes of a broker.
    pub fn broker(&self, node: NodeId) -> &[BrokerState] {
        self.brokers.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The least and the most that `min.insync.replicas` of a topic may have been at some instant
    /// of a time, both no more than its replicas (rule 17); none where nothing tells.
    pub fn min_isr(
        &self,
        topic: &str,
        state: &Registration,
        time: (TimeNs, TimeNs),
    ) -> Option<(usize, usize)> {
        let values = self.settings.min_isrs(topic, state.leader, time);
        let at_most = |value: &usize| (*value).min(state.replicas.len().max(1));
        Some((at_most(values.iter().min()?), at_most(values.iter().max()?)))
    }
}

/// Finds a partition by topic id, else by topic name.
pub fn find<'a, T>(partitions: &'a BTreeMap<(String, i32), T>, key: &KeyIndex) -> Option<&'a T> {
    let partition = key.partition().unwrap_or(-1);
    let by_id = key.topic.as_ref().and_then(|topic| topic.topic_id.as_deref());
    let mut names = [by_id, Some(key.topic_name())].into_iter().flatten();
    names.find_map(|name| partitions.get(&(name.to_owned(), partition)))
}

/// The range of states in time order that may have held at some instant of a time, whatever the
/// controller's clock was off.
fn range_of<T>(
    states: &[T],
    at: impl Fn(&T) -> TimeNs,
    from: TimeNs,
    to: TimeNs,
) -> (usize, usize) {
    let surely_over = |state: &T| at(state).saturating_add(CLOCK_SLACK_NS) < from;
    let first = states.partition_point(surely_over).saturating_sub(1);
    let begun = |state: &T| at(state) <= to.saturating_add(CLOCK_SLACK_NS);
    let end = states.partition_point(begun);
    (first.min(end), end)
}
