//! The clients of a run, on a thread of their own: what the harness does must not make them late.

use std::{thread, time::Duration};

use highwater_history::recorder::RecordError;
use highwater_workloads::{
    driver::{Crasher, History, Progress, drive},
    fleet::Fleet,
};
use tokio::{
    runtime,
    sync::{oneshot, watch},
};

use super::fail::Failure;
use crate::clock::RunClock;

/// Clients at work.
pub struct Clients {
    /// What they did so far.
    pub progress: watch::Receiver<Progress>,
    /// Lets some of them crash.
    pub crasher: Crasher,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<Result<Fleet, RecordError>>,
}

impl Clients {
    /// Sets the fleet to work.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        mut fleet: Fleet,
        clock: RunClock,
        history: History,
        patience: Duration,
    ) -> Result<Clients, Failure> {
        let progress = watch::Sender::new(Progress::default());
        let (stop, stopped) = watch::channel(false);
        let (end, ended) = oneshot::channel();
        let (crasher, orders) = Crasher::new();
        let watched = progress.subscribe();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("clients".into()).spawn(move || {
            let zero = clock.zero();
            let driving = drive(&mut fleet, zero, &history, stopped, patience, &progress, orders);
            let result = runtime.block_on(driving);
            // Nobody waits any more when the run was given up.
            let _given_up = end.send(result.map(|()| fleet));
        })?;
        Ok(Clients { progress: watched, crasher, stop, ended })
    }

    /// Lets operations in flight come to their end and gives the fleet back.
    ///
    /// # Errors
    /// When the history took no more.
    pub async fn stop(self) -> Result<Fleet, Failure> {
        self.stop.send_replace(true);
        Ok(self.ended.await.map_err(|_gone| crashed())??)
    }

    /// Waits until the clients end although nobody stopped them, and says why. Clients that ended
    /// so have nothing to give back.
    pub async fn failed(&mut self) -> Failure {
        match (&mut self.ended).await {
            Ok(Ok(_)) => Failure::Harness("the clients stopped by themselves".into()),
            Ok(Err(error)) => error.into(),
            Err(_gone) => crashed(),
        }
    }
}

fn crashed() -> Failure {
    Failure::Harness("the clients' thread crashed".into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use highwater_history::recorder::Recorder;
    use highwater_workloads::{
        Catalog, Settings,
        client::Address,
        driver::History,
        fleet::{Fleet, FleetConfig},
        workload,
    };

    use super::Clients;
    use crate::clock::RunClock;

    #[tokio::test]
    async fn clients_that_end_early_say_why() {
        let settings = Settings::default();
        let workload = workload::find("log").unwrap();
        let mut catalog = Catalog::default();
        for plan in (workload.topics)(&settings) {
            catalog.add(plan.clone(), plan.label, uuid::Uuid::nil());
        }
        let bootstrap = vec![Address { host: "127.0.0.1".into(), port: 1 }];
        let config = FleetConfig { settings, catalog, bootstrap, seed: 1, unix_zero_ms: 0 };
        let history = History::new(Recorder::create("/dev/full".as_ref()).unwrap());
        let fleet = Fleet::new(workload, config);
        let clock = RunClock::start();
        let mut clients = Clients::start(fleet, clock, history, Duration::ZERO).unwrap();
        let why = clients.failed().await.to_string();
        assert!(why.contains("/dev/full"), "{why}");
    }
}
