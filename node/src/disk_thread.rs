//! The thread that executes disk commands, in order, with one sync for all that wait for one.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use highwater_broker::OpId;
use highwater_broker::log::{Command, Completion, Store};

use crate::clock::Clock;
use crate::file_disk::FileDisk;
use crate::message::Message;

/// Commands that may be executed before those that wait for a sync get it.
const SYNC_BATCH: usize = 256;

/// Starts the thread; it ends when no more commands can come.
pub fn spawn(
    store: Store<FileDisk>,
    clock: Clock,
    commands: Receiver<(OpId, Command)>,
    node: Sender<Message>,
) -> std::io::Result<JoinHandle<()>> {
    let worker = Worker { store, clock, commands, node, out: Vec::new() };
    thread::Builder::new().name("disk".to_owned()).spawn(move || worker.run())
}

struct Worker {
    store: Store<FileDisk>,
    clock: Clock,
    commands: Receiver<(OpId, Command)>,
    node: Sender<Message>,
    out: Vec<(u64, Completion)>,
}

impl Worker {
    fn run(mut self) {
        loop {
            match self.next() {
                Ok((op, command)) => self.execute(op, command),
                Err(RecvTimeoutError::Timeout) => self.sync_due(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Waits for a command, at most until `flush.ms` asks for a sync.
    fn next(&self) -> Result<(OpId, Command), RecvTimeoutError> {
        let Some(due_ms) = self.store.next_sync_ms() else {
            return self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let left_ms = due_ms.saturating_sub(self.clock.now_ms()).max(0);
        if left_ms == 0 {
            return Err(RecvTimeoutError::Timeout);
        }
        self.commands.recv_timeout(Duration::from_millis(left_ms as u64))
    }

    /// Executes a command and those that wait behind it, then syncs once.
    fn execute(&mut self, op: OpId, command: Command) {
        let now_ms = self.clock.now_ms();
        self.store.submit(now_ms, op.0, command, &mut self.out);
        self.complete();
        for _ in 1..SYNC_BATCH {
            match self.commands.try_recv() {
                Ok((op, command)) => {
                    self.store.submit(now_ms, op.0, command, &mut self.out);
                    self.complete();
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        self.store.settle(&mut self.out);
        self.complete();
    }

    /// Tells the node what is done; a node that has gone needs to hear nothing.
    fn complete(&mut self) {
        for (ticket, done) in self.out.drain(..) {
            let _ = self.node.send(Message::Disk { op: OpId(ticket), done });
        }
    }

    fn sync_due(&mut self) {
        if let Err(error) = self.store.sync_due(self.clock.now_ms()) {
            let _ = self.node.send(Message::DiskFailed { error });
        }
    }
}
