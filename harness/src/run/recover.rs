//! Recovery by evidence: what a healed cluster must show within its bound (rules 81 and 82).

use std::{convert::Infallible, time::Duration};

use highwater_history::outcome::{LagWindow, Missing, Recovery};
use highwater_workloads::{Acks, Catalog, Key, Time, driver::Progress, fleet::Counts};
use tokio::{sync::watch, time::Instant};

use super::{lag, setup::Setup};
use crate::{
    clock::RunClock,
    cluster::NodeId,
    nemesis::{ClusterView, Partition, PartitionView, next_sight},
};

/// How often it is looked at beside every new observation.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What a controller may take to elect and to hand out the news.
const CONTROLLER_MS: u64 = 2_000;
/// How long a key that nobody sends to is waited for; then nobody can say whether it takes sends.
const UNASKED_FOR: Duration = Duration::from_secs(1);

/// Watches a cluster recover.
pub struct Watcher<'a> {
    /// The keys of the run.
    pub catalog: &'a Catalog,
    /// What was last observed.
    pub view: watch::Receiver<std::sync::Arc<ClusterView>>,
    /// What the clients did so far.
    pub progress: watch::Receiver<Progress>,
    /// The run's clock.
    pub clock: RunClock,
    /// The windows in which the harness was late so far.
    pub late: watch::Receiver<Vec<LagWindow>>,
    /// How long it may take.
    pub limit: Duration,
}

/// That all was well after a heal, nanoseconds of the run.
#[derive(Debug, Clone, Copy)]
pub struct Well {
    /// When the last fault was healed.
    pub healed_at: u64,
    /// When nothing was missing any more.
    pub at: u64,
}

/// How long recovery may take under these settings, the clients' own time-outs included.
#[must_use]
pub fn limit(setup: &Setup) -> Duration {
    let property = |name: &str, default: u64| {
        setup.properties.get(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let session = property("broker.session.timeout.ms", 9_000);
    let lag = property("replica.lag.time.max.ms", 30_000);
    let timeouts = &setup.settings.timeouts;
    let clients = timeouts.request_ms + timeouts.slack_ms;
    Duration::from_millis(lag * 3 / 2 + session + CONTROLLER_MS + clients)
}

impl Watcher<'_> {
    /// Notes in `well` when all was well again after each heal; `healed` tells the moment of the
    /// last one while no fault is in force.
    pub async fn follow(
        &self,
        mut healed: watch::Receiver<Option<u64>>,
        well: &mut Option<Well>,
    ) -> Infallible {
        let mut view = self.view.clone();
        loop {
            let healed_at = *healed.borrow_and_update();
            *well = well.filter(|well| Some(well.healed_at) == healed_at);
            if let (Some(healed_at), None) = (healed_at, &well)
                && self.missing_at_work(&view.borrow_and_update(), healed_at).is_empty()
            {
                *well = Some(Well { healed_at, at: self.clock.now_ns() });
            }
            next_sight(&mut view, LOOK_EVERY).await;
        }
    }

    /// Whether nothing is missing now, while the clients work.
    #[must_use]
    pub fn is_well(&self, healed_at: u64) -> bool {
        self.missing_at_work(&self.view.borrow(), healed_at).is_empty()
    }

    /// Waits, while the clients work, until every key has a leader and all its replicas in sync and
    /// takes sends; gives what was missing at the limit.
    pub async fn working(&self, healed_at: u64) -> Vec<Missing> {
        self.until_nothing_is_missing(|view| self.missing_at_work(view, healed_at)).await
    }

    /// Waits, while nobody writes, until every replica holds everything and the high watermark is
    /// at the end; gives what was missing at the limit.
    pub async fn idle(&self) -> Vec<Missing> {
        // What was observed before the clients stopped proves nothing.
        let stopped_at = self.clock.now_ns();
        self.until_nothing_is_missing(|view| self.missing_idle(view, stopped_at)).await
    }

    /// The result of both; `well_at` is when all was well while the clients worked.
    #[must_use]
    pub fn result(&self, healed_at: u64, well_at: u64, missing: Vec<Missing>) -> Recovery {
        let recovered = missing.is_empty();
        Recovery {
            recovered,
            healed_at,
            // The wait for rest comes from our own clients' stop, not from the cluster.
            ended_at: if recovered { well_at } else { self.clock.now_ns() },
            limit_ms: self.limit.as_millis() as u64,
            missing,
        }
    }

    async fn until_nothing_is_missing(
        &self,
        look: impl Fn(&ClusterView) -> Vec<Missing>,
    ) -> Vec<Missing> {
        let (begun, begun_ns) = (Instant::now(), self.clock.now_ns());
        let mut view = self.view.clone();
        loop {
            let missing = look(&view.borrow_and_update());
            if missing.is_empty() || begun.elapsed() >= self.limit + self.lost_since(begun_ns) {
                return missing;
            }
            next_sight(&mut view, LOOK_EVERY).await;
        }
    }

    /// What our own lateness cost since: the cluster gets it back, but at most its limit again.
    fn lost_since(&self, from_ns: u64) -> Duration {
        let clients = lag::of_clients(&self.progress.borrow().late);
        let lost = lag::since(from_ns, &self.late.borrow()) + lag::since(from_ns, &clients);
        lost.min(self.limit)
    }

    fn missing_at_work(&self, view: &ClusterView, healed_at: u64) -> Vec<Missing> {
        let counts = &self.progress.borrow().counts;
        let asked_until = self.clock.now_ns().saturating_sub(UNASKED_FOR.as_nanos() as u64);
        let unasked_counts = asked_until < healed_at;
        let since = Time::from_nanos(healed_at);
        let mut missing = Vec::new();
        for key in self.catalog.keys() {
            let Some(seen) = self.partition(view, key) else {
                missing.push(self.missing(key, "leader", "the key was never observed".into()));
                continue;
            };
            missing.extend(self.missing_sight(view, key, seen, healed_at));
            missing.extend(self.missing_replicas(key, seen));
            if takes_no_sends(counts, key, since, unasked_counts) {
                let what = match self.catalog.topic(key).plan.acks {
                    Acks::Zero => "no send went out",
                    Acks::One | Acks::All => "no send was acknowledged",
                };
                missing.push(self.missing(key, "produce", format!("{what} since the last heal")));
            }
        }
        missing
    }

    /// The replicas of a key that were not asked since: what was seen of them may be over.
    fn missing_sight(
        &self,
        view: &ClusterView,
        key: Key,
        seen: &PartitionView,
        since: u64,
    ) -> Option<Missing> {
        let unasked = unasked(view, seen, since);
        let nodes: Vec<String> = unasked.iter().map(ToString::to_string).collect();
        let seen = format!("no observation since of: {}", nodes.join(", "));
        (!unasked.is_empty()).then(|| self.missing(key, "sample", seen))
    }

    fn missing_replicas(&self, key: Key, seen: &PartitionView) -> Option<Missing> {
        if seen.leader.is_none() {
            return Some(self.missing(key, "leader", "it has none".into()));
        }
        let out: Vec<String> = seen
            .replicas
            .iter()
            .filter(|node| !seen.isr.contains(node))
            .map(ToString::to_string)
            .collect();
        let seen = format!("out of the in-sync replicas: {}", out.join(", "));
        (!out.is_empty()).then(|| self.missing(key, "isr", seen))
    }

    fn missing_idle(&self, view: &ClusterView, stopped_at: u64) -> Vec<Missing> {
        let mut missing = Vec::new();
        for key in self.catalog.keys() {
            let Some(seen) = self.partition(view, key) else { continue };
            missing.extend(self.missing_sight(view, key, seen, stopped_at));
            missing.extend(self.missing_replicas(key, seen));
            let end = seen.leader.and_then(|leader| seen.leo.get(&leader).copied());
            if end.is_none() || seen.high_watermark != end {
                let hw = seen.high_watermark;
                let text = format!("high watermark {hw:?}, log end {end:?}");
                missing.push(self.missing(key, "hw", text));
            }
            for node in &seen.replicas {
                let held = seen.leo.get(node).copied();
                if end.is_some() && held != end {
                    let text = format!("node {node} ends at {held:?}, the leader at {end:?}");
                    missing.push(self.missing(key, "leo", text));
                }
            }
        }
        missing
    }

    fn partition<'v>(&self, view: &'v ClusterView, key: Key) -> Option<&'v PartitionView> {
        let topic = self.catalog.topic(key).name.clone();
        view.partitions.get(&Partition { topic, index: self.catalog.partition(key) })
    }

    fn missing(&self, key: Key, condition: &str, seen: String) -> Missing {
        let key = Some(self.catalog.name(key).into());
        Missing { key, condition: condition.to_owned(), seen }
    }
}

/// Whether no send to the key went well since the heal. Where none was begun, nobody knows: that
/// counts only if `unasked_counts`.
fn takes_no_sends(counts: &Counts, key: Key, healed_at: Time, unasked_counts: bool) -> bool {
    let since = |at: Option<&Time>| at.is_some_and(|at| *at > healed_at);
    let asked = since(counts.last_begun.get(&key));
    !since(counts.last_ok.get(&key)) && (asked || unasked_counts)
}

fn unasked(view: &ClusterView, seen: &PartitionView, since: u64) -> Vec<NodeId> {
    seen.replicas.iter().copied().filter(|node| !view.asked_since(*node, since)).collect()
}

#[cfg(test)]
mod tests {
    use highwater_workloads::{Key, Time, fleet::Counts};

    use super::{takes_no_sends, unasked};
    use crate::{
        cluster::NodeId,
        nemesis::{ClusterView, PartitionView},
    };

    /// Rule 82: rest is seen at every replica, not at whichever answered last.
    #[test]
    fn every_replica_is_asked_after_the_moment_that_counts() {
        let replicas = [1, 2].map(NodeId).to_vec();
        let seen = PartitionView { replicas, ..PartitionView::default() };
        let asked_ns = [(NodeId(1), 101), (NodeId(2), 100), (NodeId(3), 1)].into();
        let view = ClusterView { time_ns: 150, asked_ns, ..ClusterView::default() };
        assert_eq!(unasked(&view, &seen, 99), []);
        assert_eq!(unasked(&view, &seen, 100), [NodeId(2)]);
        assert_eq!(unasked(&ClusterView::default(), &seen, 0), seen.replicas);
    }

    /// Rule 81: production is demanded of a key that somebody wanted to send to.
    #[test]
    fn a_key_that_nobody_sends_to_is_undecided() {
        let (key, healed_at) = (Key(0), Time::from_nanos(100));
        let mut counts = Counts::default();
        counts.last_begun.insert(key, Time::from_nanos(90));
        counts.last_ok.insert(key, Time::from_nanos(95));
        assert!(takes_no_sends(&counts, key, healed_at, true), "it is waited for at first");
        assert!(!takes_no_sends(&counts, key, healed_at, false));
        counts.last_begun.insert(key, Time::from_nanos(110));
        assert!(takes_no_sends(&counts, key, healed_at, false), "asked for and not given");
        counts.last_ok.insert(key, Time::from_nanos(120));
        assert!(!takes_no_sends(&counts, key, healed_at, true));
    }
}
