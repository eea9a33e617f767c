//! Recovery by evidence: what a healed cluster must show within its bound (rules 81 and 82).

use std::{collections::BTreeMap, time::Duration};

use highwater_history::outcome::{Missing, Recovery};
use highwater_workloads::{Acks, Catalog, Key, Time};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{clients::Clients, setup::Setup};
use crate::{
    clock::RunClock,
    nemesis::{ClusterView, Partition, PartitionView},
};

/// How often it is looked at beside every new observation.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What a controller may take to elect and to hand out the news.
const CONTROLLER_MS: u64 = 2_000;

/// Watches a cluster recover.
pub struct Watcher<'a> {
    /// The keys of the run.
    pub catalog: &'a Catalog,
    /// What was last observed.
    pub view: watch::Receiver<std::sync::Arc<ClusterView>>,
    /// The run's clock.
    pub clock: RunClock,
    /// When the last fault was healed, nanoseconds of the run.
    pub healed_at: u64,
    /// How long it may take.
    pub limit: Duration,
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
    /// Waits, while the clients work, until every key has a leader and all its replicas in sync and
    /// takes sends; gives what was missing at the limit.
    pub async fn working(&self, clients: &Clients) -> Vec<Missing> {
        let healed_at = Time::from_nanos(self.healed_at);
        self.until_nothing_is_missing(|view| {
            let last_ok = &clients.progress.borrow().counts.last_ok;
            self.missing_at_work(view, last_ok, healed_at)
        })
        .await
    }

    /// Waits, while nobody writes, until every replica holds everything and the high watermark is
    /// at the end; gives what was missing at the limit.
    pub async fn idle(&self) -> Vec<Missing> {
        // What was observed before the clients stopped proves nothing.
        let stopped_at = self.clock.now_ns();
        self.until_nothing_is_missing(|view| {
            let mut missing = self.missing_idle(view);
            if view.time_ns <= stopped_at {
                missing.push(missing_of(None, "sample", "no observation since".into()));
            }
            missing
        })
        .await
    }

    /// The result of both.
    #[must_use]
    pub fn result(&self, missing: Vec<Missing>) -> Recovery {
        Recovery {
            recovered: missing.is_empty(),
            healed_at: self.healed_at,
            ended_at: self.clock.now_ns(),
            limit_ms: self.limit.as_millis() as u64,
            missing,
        }
    }

    async fn until_nothing_is_missing(
        &self,
        look: impl Fn(&ClusterView) -> Vec<Missing>,
    ) -> Vec<Missing> {
        let end = Instant::now() + self.limit;
        let mut view = self.view.clone();
        loop {
            let missing = look(&view.borrow_and_update());
            if missing.is_empty() || Instant::now() >= end {
                return missing;
            }
            tokio::select! {
                _ = view.changed() => {}
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn missing_at_work(
        &self,
        view: &ClusterView,
        last_ok: &BTreeMap<Key, Time>,
        healed_at: Time,
    ) -> Vec<Missing> {
        let mut missing = Vec::new();
        for key in self.catalog.keys() {
            let Some(seen) = self.partition(view, key) else {
                missing.push(self.missing(key, "leader", "the key was never observed".into()));
                continue;
            };
            missing.extend(self.missing_replicas(key, seen));
            let written = last_ok.get(&key).is_some_and(|at| *at > healed_at);
            if !written {
                let what = match self.catalog.topic(key).plan.acks {
                    Acks::Zero => "no send went out",
                    Acks::One | Acks::All => "no send was acknowledged",
                };
                missing.push(self.missing(key, "produce", format!("{what} since the last heal")));
            }
        }
        missing
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

    fn missing_idle(&self, view: &ClusterView) -> Vec<Missing> {
        let mut missing = Vec::new();
        for key in self.catalog.keys() {
            let Some(seen) = self.partition(view, key) else { continue };
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
        missing_of(Some(self.catalog.name(key).into()), condition, seen)
    }
}

fn missing_of(key: Option<highwater_history::Key>, condition: &str, seen: String) -> Missing {
    Missing { key, condition: condition.to_owned(), seen }
}
