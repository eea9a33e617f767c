//! The sampler: asks every node's real port what it holds, and keeps what was last observed.

mod merge;
mod node;
mod quorum;

use std::{sync::Arc, time::Duration};

use highwater_history::{
    FormatError,
    lines::{LineWriter, Plain},
    samples::Sample,
};
use highwater_workloads::Catalog;
pub use merge::Merged;
use quorum::QuorumLeader;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{
    clock::RunClock,
    cluster::{Cluster, Listener, NodeId},
    nemesis::ClusterView,
};

/// How long a node is waited for: a paused one must not hold up the others.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the view is refreshed when no samples are wanted: conditions and aims stand on it.
const UNSAMPLED: Duration = Duration::from_millis(200);

/// What the sampler needs.
#[derive(Clone)]
pub struct SamplerConfig {
    /// The keys of the run.
    pub catalog: Arc<Catalog>,
    /// Whom to ask.
    pub cluster: Arc<Cluster>,
    /// The run's clock.
    pub clock: RunClock,
    /// Samples a second; 0 writes none.
    pub hz: u32,
    /// `samples.jsonl`.
    pub file: std::path::PathBuf,
}

/// Samples until `stop` turns true; the view is kept in `view`.
///
/// # Errors
/// When the samples cannot be written.
pub async fn sample(
    config: SamplerConfig,
    view: watch::Sender<Arc<ClusterView>>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), FormatError> {
    let writes = config.hz > 0;
    let mut writer = match writes {
        true => Some(LineWriter::<Sample>::create(&config.file, &Plain {})?),
        false => None,
    };
    let (sender, mut samples) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for node in config.cluster.plan().brokers().map(|node| node.id) {
        tasks.spawn(node::ask_forever(node, config.clone(), period(config.hz), sender.clone()));
    }
    drop(sender);
    let mut active = Active::watch(&config, &mut tasks);
    let mut merged = Merged::new(config.catalog.clone());
    loop {
        let round = tokio::select! {
            round = samples.recv() => round,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Some(round) = round else { break };
        merged.take(&round);
        view.send_replace(Arc::new(merged.view(active.controller())));
        if let Some(writer) = &mut writer {
            for sample in &round.samples {
                writer.write(sample)?;
            }
            writer.flush()?;
        }
    }
    tasks.shutdown().await;
    writer.map_or(Ok(()), LineWriter::finish)
}

fn period(hz: u32) -> Duration {
    if hz == 0 { UNSAMPLED } else { Duration::from_secs(1) / hz }
}

/// Which controller is active: the only one, or the one of several that said last that it leads.
struct Active {
    known: Option<QuorumLeader>,
    told: mpsc::UnboundedReceiver<QuorumLeader>,
}

impl Active {
    fn watch(config: &SamplerConfig, tasks: &mut JoinSet<()>) -> Active {
        let (sender, told) = mpsc::unbounded_channel();
        let controllers: Vec<_> = config.cluster.plan().controllers().collect();
        if let [only] = controllers[..] {
            return Active { known: Some(QuorumLeader { epoch: 0, node: only.id }), told };
        }
        for node in controllers {
            let Some(place) = node.place(Listener::Controller) else { continue };
            let asked = (node.id, place.real);
            tasks.spawn(quorum::ask_forever(asked, period(config.hz), sender.clone()));
        }
        Active { known: None, told }
    }

    /// The active controller, as far as is known by now.
    fn controller(&mut self) -> Option<NodeId> {
        while let Ok(told) = self.told.try_recv() {
            if self.known.is_none_or(|known| known.epoch <= told.epoch) {
                self.known = Some(told);
            }
        }
        self.known.map(|known| known.node)
    }
}

fn ticks(period: Duration) -> tokio::time::Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
