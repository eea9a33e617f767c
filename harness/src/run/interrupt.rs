//! Somebody wants the program to end: SIGINT, SIGTERM or SIGHUP, heard at every moment of a run.

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::fail::Failure;

/// Hears signals from its making on, also while nobody waits for one.
#[derive(Debug, Clone)]
pub struct Interrupts(watch::Receiver<bool>);

impl Interrupts {
    /// Begins to listen; inside a runtime.
    #[must_use]
    pub fn listen() -> Interrupts {
        let (heard, interrupts) = watch::channel(false);
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        tokio::spawn(async move {
            let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
                (interrupt, terminate, hangup)
            else {
                return;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            heard.send_replace(true);
        });
        Interrupts(interrupts)
    }

    /// Does the work, unless a signal comes first: then it is dropped.
    ///
    /// # Errors
    /// The work's own, or that it was interrupted.
    pub async fn unless<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut heard = self.0.clone();
        let interrupted = async {
            // Without a listener no signal is heard, and the work goes on.
            if heard.wait_for(|heard| *heard).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            done = work => done,
            () = interrupted => Err(Failure::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::{Failure, Interrupts};

    #[tokio::test]
    async fn a_signal_ends_whatever_is_being_done() {
        let interrupts = Interrupts::listen();
        assert!(interrupts.unless(async { Ok(1) }).await.is_ok());
        kill_process(getpid(), Signal::TERM).unwrap();
        for _ in ["what it came in", "what would follow"] {
            let ended = interrupts.unless(std::future::pending::<Result<(), Failure>>()).await;
            assert!(matches!(ended, Err(Failure::Interrupted)));
        }
    }
}
