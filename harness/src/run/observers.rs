//! What watches a run beside it: the sampler and the harness's own lateness.

use std::sync::Arc;

use highwater_history::{FormatError, outcome::LagWindow};
use tokio::{
    sync::watch,
    task::{JoinError, JoinHandle},
};

use super::{
    fail::Failure,
    lag,
    sampler::{self, SamplerConfig},
    setup::Setup,
    world::World,
};
use crate::nemesis::ClusterView;

/// Observers at work.
pub struct Observers {
    stop: watch::Sender<bool>,
    view: watch::Receiver<Arc<ClusterView>>,
    sampler: JoinHandle<Result<(), FormatError>>,
    lag: JoinHandle<()>,
    late: watch::Receiver<Vec<LagWindow>>,
}

impl Observers {
    /// Sets them to work.
    #[must_use]
    pub fn start(setup: &Setup, world: &World) -> Observers {
        let (stop, stopped) = watch::channel(false);
        let (views, view) = watch::channel(Arc::new(ClusterView::default()));
        let config = SamplerConfig {
            catalog: Arc::clone(&world.catalog),
            cluster: Arc::clone(&world.cluster),
            clock: world.clock,
            hz: setup.sample_hz,
            file: world.folder.samples_path(),
        };
        let sampler = tokio::spawn(sampler::sample(config, views, stopped.clone()));
        let (lateness, late) = watch::channel(Vec::new());
        let lag = tokio::spawn(lag::watch(world.clock, stopped, lateness));
        Observers { stop, view, sampler, lag, late }
    }

    /// What was last observed.
    #[must_use]
    pub fn view(&self) -> Arc<ClusterView> {
        Arc::clone(&self.view.borrow())
    }

    /// What will be observed.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.clone()
    }

    /// The windows in which the harness was late so far.
    #[must_use]
    pub fn late(&self) -> watch::Receiver<Vec<LagWindow>> {
        self.late.clone()
    }

    /// Waits until one ends although nobody stopped it, and says why. Observers that ended so
    /// cannot be stopped any more.
    pub async fn failed(&mut self) -> Failure {
        let early = || Failure::Harness("an observer stopped by itself".into());
        tokio::select! {
            sampled = &mut self.sampler => match sampled {
                Ok(Ok(())) => early(),
                Ok(Err(error)) => error.into(),
                Err(error) => crashed(error),
            },
            watched = &mut self.lag => watched.map_or_else(crashed, |()| early()),
        }
    }

    /// Stops them; gives the windows in which the harness was late.
    ///
    /// # Errors
    /// When the samples could not be written.
    pub async fn finish(self) -> Result<Vec<LagWindow>, Failure> {
        self.stop.send_replace(true);
        self.sampler.await.map_err(crashed)??;
        self.lag.await.map_err(crashed)?;
        Ok(self.late.borrow().clone())
    }
}

fn crashed(error: JoinError) -> Failure {
    Failure::Harness(format!("an observer crashed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::{io, path::Path};

    use highwater_history::FormatError;
    use tokio::sync::watch;

    use super::Observers;

    #[tokio::test]
    async fn a_sampler_that_cannot_write_is_heard_of_at_once() {
        let full = FormatError::io(Path::new("samples.jsonl"), io::ErrorKind::StorageFull.into());
        let mut observers = Observers {
            stop: watch::Sender::new(false),
            view: watch::Sender::default().subscribe(),
            sampler: tokio::spawn(async { Err(full) }),
            lag: tokio::spawn(std::future::pending()),
            late: watch::Sender::default().subscribe(),
        };
        let why = observers.failed().await.to_string();
        assert!(why.contains("samples.jsonl"), "{why}");
    }
}
