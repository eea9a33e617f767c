//! Who keeps up stays in sync, and who does not leaves (rule 24).

use highwater_history::{LeaderEpoch, Manifest, NodeId, Offset, TimeNs, samples::ReplicaState};

use crate::{
    faults,
    leadership::CLOCK_SLACK_NS,
    registry::{Registration, Registry},
    told::Told,
    view::KeyView,
};

const NS_PER_MS: TimeNs = 1_000_000;
/// What the leader has for its request to the controller, beyond the one and a half lag limits in
/// which it has to notice.
const PATIENCE_NS: TimeNs = 1_500_000_000;
/// A change of a broker this close explains that it left an ISR.
const NEAR_NS: TimeNs = 1_000_000_000;
const LAG_SETTING: &str = "replica.lag.time.max.ms";

/// A member that stayed although it was behind for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The member.
    pub node: NodeId,
    /// Its log end.
    pub end: Offset,
    /// When it said so.
    pub asked: TimeNs,
    /// What its leader had long before.
    pub leader_end: Offset,
    /// When the leader had said so.
    pub leader_answered: TimeNs,
}

/// A member that was dropped although it had caught up within the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The member.
    pub node: NodeId,
    /// Offset of the metadata record.
    pub record: Offset,
    /// The log end that it had reached.
    pub reached: Offset,
    /// Since when at most.
    pub at_most_ns: TimeNs,
}

/// The least and the most that a leader lets members lag.
fn limits(manifest: &Manifest) -> (TimeNs, TimeNs) {
    let set = manifest.target.nodes.iter().filter_map(|node| {
        let value = node.properties.get(LAG_SETTING)?;
        value.parse::<u64>().ok()
    });
    let all: Vec<u64> = set.chain([manifest.timing.lag_limit_ms]).collect();
    let least = all.iter().min().copied().unwrap_or_default();
    let most = all.iter().max().copied().unwrap_or_default();
    (least.saturating_mul(NS_PER_MS), most.saturating_mul(NS_PER_MS))
}

/// Members that stayed although behind; each once, until it has caught up or left.
pub fn kept_behind(view: &KeyView<'_>) -> Vec<Kept> {
    let Some(manifest) = &view.run.evidence.manifest else { return Vec::new() };
    if view.states().is_empty() || !view.run.registry.is_whole {
        return Vec::new();
    }
    let too_long = limits(manifest).1.saturating_mul(3) / 2 + PATIENCE_NS;
    let mut nodes: Vec<NodeId> = view.replica_samples().iter().map(|told| told.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().flat_map(|node| kept_of(view, manifest, node, too_long)).collect()
}

fn kept_of(view: &KeyView<'_>, manifest: &Manifest, node: NodeId, too_long: TimeNs) -> Vec<Kept> {
    let mut found = Vec::new();
    let mut is_kept = false;
    let leads = |told: &&Told<'_, ReplicaState>| told.state.leads == Some(true);
    let mut leaders: Vec<_> = view.replica_samples().iter().filter(leads).collect();
    leaders.sort_by_key(|leader| leader.answered);
    for told in view.replica_samples().iter().filter(|told| told.node == node) {
        let Some(end) = told.state.leo.filter(|end| *end >= 0) else { continue };
        let Some(limit) = told.asked.checked_sub(too_long) else { continue };
        // The last that a leader said early enough; leaders of one partition follow on each other.
        let early = leaders.partition_point(|leader| leader.answered <= limit);
        let early = early.checked_sub(1).map(|at| leaders[at]);
        let kept = early.and_then(|leader| {
            let leader_end = leader.state.leo.filter(|leader_end| end < *leader_end)?;
            let reign = (leader.node, leader.state.leader_epoch?);
            let time = (leader.answered, told.asked);
            (leader.node != node
                && in_sync_throughout(view.states(), node, reign, time)
                && !is_excused(view, manifest, leader.node, time))
            .then_some(Kept {
                node,
                end,
                asked: told.asked,
                leader_end,
                leader_answered: leader.answered,
            })
        });
        if let Some(kept) = &kept
            && !is_kept
        {
            found.push(kept.clone());
        }
        is_kept = kept.is_some();
    }
    found
}

fn in_sync_throughout(
    states: &[Registration],
    node: NodeId,
    (leader, epoch): (NodeId, LeaderEpoch),
    time: (TimeNs, TimeNs),
) -> bool {
    Registry::during(states, time).iter().all(|state| {
        (state.leader, state.leader_epoch) == (Some(leader), epoch) && state.isr.contains(&node)
    })
}

/// Whether something may have kept the leader from telling a controller.
fn is_excused(
    view: &KeyView<'_>,
    manifest: &Manifest,
    leader: NodeId,
    time: (TimeNs, TimeNs),
) -> bool {
    let controllers = controllers_of(manifest);
    let outcome = view.run.evidence.outcome.as_ref();
    faults::may_part(outcome, leader, &controllers, time)
}

/// The nodes that are controllers.
pub fn controllers_of(manifest: &Manifest) -> Vec<NodeId> {
    let controllers = manifest.target.nodes.iter().filter(|node| node.is_controller());
    controllers.map(|node| node.id).collect()
}

/// Members that were dropped although they had caught up within the limit, and were neither fenced
/// nor stopping.
pub fn dropped_in_time(view: &KeyView<'_>) -> Vec<Dropped> {
    let Some(manifest) = &view.run.evidence.manifest else { return Vec::new() };
    let limit = limits(manifest).0;
    let mut found = Vec::new();
    for pair in view.states().windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let gone = before.isr.iter().filter(|node| !after.isr.contains(node));
        for node in gone.copied() {
            if after.elected || !after.replicas.contains(&node) || left_service(view, node, after) {
                continue;
            }
            let from = after.at.saturating_add(CLOCK_SLACK_NS).saturating_sub(limit);
            let caught_up = caught_up_since(view, node, after, from);
            found.extend(caught_up.map(|(at, reached)| Dropped {
                node,
                record: after.record,
                reached,
                at_most_ns: after.at.saturating_sub(at),
            }));
        }
    }
    found
}

fn left_service(view: &KeyView<'_>, node: NodeId, after: &Registration) -> bool {
    let near = |at: TimeNs| at.abs_diff(after.at) <= NEAR_NS;
    let registry = view.run.registry;
    registry.broker(node).iter().any(|state| near(state.at))
        || !registry.may_be_in_service(node, (after.at, after.at))
}

/// When a member had surely reached the leader's log end, later than a time: the high watermark
/// was at the log end, and that was not there yet one answer before.
fn caught_up_since(
    view: &KeyView<'_>,
    node: NodeId,
    after: &Registration,
    from: TimeNs,
) -> Option<(TimeNs, Offset)> {
    let of_leader = view.replica_samples().iter().filter(|told| {
        Some(told.node) == after.leader
            && told.state.leads == Some(true)
            && told.state.leader_epoch == Some(after.leader_epoch)
            && told.asked > from
            && told.answered < after.at
    });
    let told: Vec<_> = of_leader.collect();
    told.windows(2).find_map(|pair| {
        let (one, other) = (pair[0], pair[1]);
        let reached = other.state.hw.filter(|hw| Some(*hw) == other.state.leo)?;
        let is_new = one.state.leo.is_some_and(|end| end < reached);
        let in_sync = in_sync_throughout(
            view.states(),
            node,
            (other.node, after.leader_epoch),
            (one.asked, other.answered),
        );
        (is_new && in_sync && one.is_same_process(other)).then_some((one.asked, reached))
    })
}
