//! Moves the bytes of one direction: reads ahead, delivers what the gate allows, in order.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{ReadHalf, WriteHalf},
    sync::watch,
    time,
};

use super::{
    Link, Part,
    connection::Ends,
    gate::{Change, Gate},
    net::Shared,
    scan::Exchange,
    stream::Stream,
    tap::Tap,
};
use crate::cluster::Listener;

/// One direction of one connection.
pub(super) struct Pump<'a> {
    shared: &'a Shared,
    exchange: &'a Exchange,
    ends: Ends,
    part: Part,
    link: Link,
    gate: Gate,
    stream: Stream,
    tap: Option<Tap>,
    carried: Arc<AtomicU64>,
    changes: watch::Receiver<u64>,
}

impl<'a> Pump<'a> {
    /// A pump for the `part` of the connection between `ends`; `stream` holds what was read of it
    /// already.
    pub(super) fn new(
        shared: &'a Shared,
        ends: Ends,
        part: Part,
        exchange: &'a Exchange,
        mut stream: Stream,
    ) -> Self {
        let link = ends.link(part);
        let mut changes = shared.rules.changes();
        changes.mark_unchanged();
        let mut gate = Gate::new(part);
        let _fresh = gate.refresh(&shared.rules, link);
        stream.scan(exchange);
        let watched = part == Part::Answer && ends.listener == Listener::Client;
        let tap = watched.then(|| Tap::new(ends.acceptor));
        let carried = shared.traffic.of(link);
        Self { shared, exchange, ends, part, link, gate, stream, tap, carried, changes }
    }

    /// Runs until the direction ended in order.
    ///
    /// # Errors
    /// When a socket fails, or a rule went whose end resets the connection.
    pub(super) async fn run(
        mut self,
        mut from: ReadHalf<'_>,
        mut to: WriteHalf<'_>,
    ) -> io::Result<()> {
        let mut checked = false;
        loop {
            self.obey_changes()?;
            let now = Instant::now();
            let allowed = self.gate.allow(&self.stream, now);
            if allowed.upto > self.stream.delivered() {
                let count = to.write(self.stream.head(allowed.upto)).await?;
                self.delivered(count, now);
                continue;
            }
            if self.stream.ended() && self.stream.is_empty() && !self.gate.withholds_end() {
                return to.shutdown().await;
            }
            self.wait(&mut from, allowed.wake).await?;
            if !checked {
                checked = self.check_caller();
            }
        }
    }

    /// Waits for bytes, a change of rules, or the time at which bytes may go.
    async fn wait(&mut self, from: &mut ReadHalf<'_>, wake: Option<Instant>) -> io::Result<()> {
        let space = self.stream.space();
        tokio::select! {
            changed = self.changes.changed() => match changed {
                Ok(()) => self.refresh()?,
                // The proxies are closing: the reset of this connection comes next.
                Err(_closed) => std::future::pending().await,
            },
            count = read(from, space) => self.stream.took(count?, Instant::now(), self.exchange),
            () = sleep_until(wake) => {}
        }
        Ok(())
    }

    fn obey_changes(&mut self) -> io::Result<()> {
        if !self.changes.has_changed().unwrap_or(false) {
            return Ok(());
        }
        self.changes.mark_unchanged();
        self.refresh()
    }

    fn refresh(&mut self) -> io::Result<()> {
        match self.gate.refresh(&self.shared.rules, self.link) {
            Change::GoOn => Ok(()),
            Change::Reset => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    fn delivered(&mut self, count: usize, now: Instant) {
        if let Some(tap) = &mut self.tap {
            tap.delivered(self.shared, self.exchange, &self.stream, count);
        }
        self.carried.fetch_add(count as u64, Ordering::Relaxed);
        self.stream.left(count);
        self.gate.sent(count, now);
    }

    /// Compares who calls by /proc with who calls by client id, once the id is known.
    fn check_caller(&self) -> bool {
        if self.part == Part::Answer || self.ends.listener == Listener::Client {
            return true;
        }
        let Some(client_id) = self.exchange.client_id() else { return false };
        self.shared.check_caller(&self.ends, &client_id);
        true
    }
}

async fn read(from: &mut ReadHalf<'_>, space: Option<&mut bytes::BytesMut>) -> io::Result<usize> {
    match space {
        Some(space) => from.read_buf(space).await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
