//! The clients of a run, on a thread of their own: what the harness does must not make them late.

use std::{thread, time::Duration};

use highwater_history::recorder::RecordError;
use highwater_workloads::{
    driver::{History, Progress, drive},
    fleet::Fleet,
};
use tokio::{
    runtime,
    sync::{
        oneshot::{self, error::TryRecvError},
        watch,
    },
};

use super::fail::Failure;
use crate::clock::RunClock;

/// Clients at work.
pub struct Clients {
    /// What they did so far.
    pub progress: watch::Receiver<Progress>,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<Result<Fleet, RecordError>>,
    /// How they ended, when they did before they were told to.
    early: Option<Result<Fleet, Failure>>,
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
        let watched = progress.subscribe();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("clients".into()).spawn(move || {
            let zero = clock.zero();
            let driving = drive(&mut fleet, zero, &history, stopped, patience, &progress);
            let result = runtime.block_on(driving);
            // Nobody waits any more when the run was given up.
            let _given_up = end.send(result.map(|()| fleet));
        })?;
        Ok(Clients { progress: watched, stop, ended, early: None })
    }

    /// Lets operations in flight come to their end and gives the fleet back.
    ///
    /// # Errors
    /// When the history took no more.
    pub async fn stop(self) -> Result<Fleet, Failure> {
        self.stop.send_replace(true);
        match self.early {
            Some(ended) => ended,
            None => ending(self.ended.await),
        }
    }

    /// Whether the clients ended although nobody stopped them.
    pub fn failed(&mut self) -> bool {
        if self.early.is_none() {
            // A channel that has given its value must not be asked again.
            self.early = match self.ended.try_recv() {
                Ok(ended) => Some(ended.map_err(Failure::from)),
                Err(TryRecvError::Closed) => Some(Err(crashed())),
                Err(TryRecvError::Empty) => None,
            };
        }
        self.early.is_some()
    }
}

fn ending<E>(received: Result<Result<Fleet, RecordError>, E>) -> Result<Fleet, Failure> {
    Ok(received.map_err(|_gone| crashed())??)
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
    async fn clients_that_end_early_say_why_once_they_are_stopped() {
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
        while !clients.failed() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(clients.failed(), "it may be asked again");
        let why = clients.stop().await.err().unwrap().to_string();
        assert!(why.contains("/dev/full"), "{why}");
    }
}
