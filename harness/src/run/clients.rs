//! The clients of a run, on a thread of their own: what the harness does must not make them late.

use std::{thread, time::Duration};

use highwater_history::recorder::RecordError;
use highwater_workloads::{
    driver::{History, Progress, drive},
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
        let watched = progress.subscribe();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("clients".into()).spawn(move || {
            let zero = clock.zero();
            let driving = drive(&mut fleet, zero, &history, stopped, patience, &progress);
            let result = runtime.block_on(driving);
            // Nobody waits any more when the run was given up.
            let _given_up = end.send(result.map(|()| fleet));
        })?;
        Ok(Clients { progress: watched, stop, ended })
    }

    /// Lets operations in flight come to their end and gives the fleet back.
    ///
    /// # Errors
    /// When the history took no more.
    pub async fn stop(self) -> Result<Fleet, Failure> {
        self.stop.send_replace(true);
        match self.ended.await {
            Ok(result) => Ok(result?),
            Err(_crashed) => Err(Failure::Harness("the clients' thread crashed".into())),
        }
    }

    /// Whether the clients ended although nobody stopped them.
    pub fn failed(&mut self) -> bool {
        !matches!(self.ended.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }
}
