//! The clients' sockets and clock: the one file here that knows tokio.

mod crasher;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
pub use crasher::{Crasher, Orders};
use highwater_history::{
    Event,
    recorder::{RecordError, Recorder},
    types::ClientId,
};
use highwater_wire::frame::{self, FrameBuffer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    task::{AbortHandle, yield_now},
    time::sleep_until,
};

use crate::{
    Time,
    client::{self, Address, Conn},
    fleet::{Counts, Effect, Fleet, Input},
};

/// Largest answer that a client takes.
const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;
/// Messages handled before effects are performed: one write to the history serves them all.
const BATCH: usize = 256;
/// How late the loop may be before it says so.
const LATE: Duration = Duration::from_millis(100);

/// The history of a run, shared by clients and nemesis.
pub struct History<W: Write = File>(Arc<Mutex<Recorder<W>>>);

impl<W: Write> Clone for History<W> {
    fn clone(&self) -> Self {
        History(Arc::clone(&self.0))
    }
}

impl<W: Write> History<W> {
    /// Shares a recorder.
    pub fn new(recorder: Recorder<W>) -> History<W> {
        History(Arc::new(Mutex::new(recorder)))
    }

    /// Appends events in this order and hands them to the kernel.
    ///
    /// # Errors
    /// When the file takes no more; the run cannot go on.
    pub fn record(&self, events: impl IntoIterator<Item = Event>) -> Result<(), RecordError> {
        let mut recorder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for mut event in events {
            recorder.append(&mut event)?;
        }
        recorder.flush()
    }
}

/// What others may watch while the clients run.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What happened so far.
    pub counts: Counts,
    /// Windows in which the loop was late: from, to.
    pub late: Vec<(Time, Time)>,
}

/// Runs the fleet until `stop` turns true and then until no operation is in flight, at most for
/// `patience`. `zero` is the run's start.
///
/// # Errors
/// When the history takes no more.
pub async fn drive<W: Write>(
    fleet: &mut Fleet,
    zero: Instant,
    history: &History<W>,
    mut stop: watch::Receiver<bool>,
    patience: Duration,
    progress: &watch::Sender<Progress>,
    mut crashes: Orders,
) -> Result<(), RecordError> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut driver =
        Driver { zero, sockets: BTreeMap::new(), sender, written: Vec::new(), late: Vec::new() };
    let mut effects = Vec::new();
    let mut messages = Vec::with_capacity(BATCH);
    let mut give_up: Option<Time> = None;
    fleet.step(driver.now(), Input::Start, &mut effects);
    loop {
        driver.perform(&mut effects, history)?;
        publish(progress, fleet, &driver);
        if give_up.is_some_and(|end| fleet.is_idle() || end <= driver.now()) {
            return Ok(());
        }
        let wake = [fleet.next_wake(), give_up].into_iter().flatten().min();
        let wake_at = driver.instant(wake.unwrap_or(driver.now() + Duration::from_secs(1)));
        tokio::select! {
            _ = receiver.recv_many(&mut messages, BATCH) => {}
            () = sleep_until(wake_at.into()) => {}
            // Sends at acks=0 end with their write and call for the next: answers have their turn.
            () = yield_now(), if !driver.written.is_empty() => {}
            Some((victims, answer)) = crashes.0.recv() => {
                let gone = fleet.crash(driver.now(), victims, &mut effects);
                // Nobody waits for the answer when the run was given up.
                let _given_up = answer.send(gone);
            }
            _ = stop.wait_for(|stop| *stop), if give_up.is_none() => {
                give_up = Some(driver.now() + patience);
                fleet.step(driver.now(), Input::Stop, &mut effects);
            }
        }
        if driver.note_lateness(wake_at) {
            // What came meanwhile waits in the sockets; it must not expire unread. The first turn
            // hears of it, the second lets the readers have it.
            for _ in 0..2 {
                yield_now().await;
            }
        }
        let now = driver.now();
        if fleet.next_wake().is_some_and(|wake| wake <= now) {
            messages.extend(std::iter::from_fn(|| receiver.try_recv().ok()));
        }
        for (id, out) in std::mem::take(&mut driver.written) {
            fleet.step(now, Input::Net(id.0, client::Input::Written(id.1, out)), &mut effects);
        }
        for message in messages.drain(..) {
            driver.take(now, message, fleet, &mut effects);
        }
        if fleet.next_wake().is_some_and(|wake| wake <= now) {
            fleet.step(now, Input::Tick, &mut effects);
        }
    }
}

fn publish(progress: &watch::Sender<Progress>, fleet: &Fleet, driver: &Driver) {
    progress.send_modify(|progress| {
        progress.counts.clone_from(fleet.counts());
        if progress.late.len() < driver.late.len() {
            progress.late.clone_from(&driver.late);
        }
    });
}

type SocketId = (ClientId, Conn);

/// What the tasks of the sockets report.
enum Message {
    Connected(SocketId, OwnedWriteHalf),
    Frames(SocketId, Vec<Bytes>),
    /// The writer wrote all it was given; the half comes back.
    Written(SocketId, OwnedWriteHalf),
    Closed(SocketId),
}

struct Socket {
    reader: AbortHandle,
    /// Absent while dialing and while a task writes.
    half: Option<OwnedWriteHalf>,
    waiting: BytesMut,
    /// How many requests were handed over.
    sent: u64,
}

struct Driver {
    zero: Instant,
    sockets: BTreeMap<SocketId, Socket>,
    sender: mpsc::UnboundedSender<Message>,
    /// Sockets with nothing left to write and how many requests that were, of which the clients
    /// were not told yet.
    written: Vec<(SocketId, u64)>,
    late: Vec<(Time, Time)>,
}

impl Driver {
    fn now(&self) -> Time {
        Time::from_nanos(self.zero.elapsed().as_nanos() as u64)
    }

    fn instant(&self, time: Time) -> Instant {
        self.zero + (time - Time::ZERO)
    }

    /// Records first, then everything that touches the network.
    fn perform<W: Write>(
        &mut self,
        effects: &mut Vec<Effect>,
        history: &History<W>,
    ) -> Result<(), RecordError> {
        let mut events = Vec::new();
        let mut others = Vec::new();
        for effect in effects.drain(..) {
            match effect {
                Effect::Record(event) => events.push(*event),
                other => others.push(other),
            }
        }
        history.record(events)?;
        let mut touched = Vec::new();
        for effect in others {
            self.touch(effect, &mut touched);
        }
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().for_each(|id| self.write(id));
        Ok(())
    }

    fn touch(&mut self, effect: Effect, touched: &mut Vec<SocketId>) {
        match effect {
            Effect::Record(_) => unreachable!("events were taken out before"),
            Effect::Connect(client, conn, address) => self.dial((client, conn), address),
            Effect::Send(client, conn, frame) => {
                if let Some(socket) = self.sockets.get_mut(&(client, conn)) {
                    socket.waiting.extend_from_slice(&frame::prefix(std::slice::from_ref(&frame)));
                    socket.waiting.extend_from_slice(&frame);
                    socket.sent += 1;
                    touched.push((client, conn));
                }
            }
            Effect::Close(client, conn) => {
                if let Some(socket) = self.sockets.remove(&(client, conn)) {
                    socket.reader.abort();
                }
            }
        }
    }

    fn dial(&mut self, id: SocketId, address: Address) {
        let reader = tokio::spawn(connect_and_read(id, address, self.sender.clone()));
        let (reader, waiting) = (reader.abort_handle(), BytesMut::new());
        self.sockets.insert(id, Socket { reader, half: None, waiting, sent: 0 });
    }

    /// Writes what the kernel takes at once; a task writes the rest.
    fn write(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Some(half) = socket.half.take() else { return };
        while !socket.waiting.is_empty() {
            match half.try_write(&socket.waiting) {
                Ok(written) => drop(socket.waiting.split_to(written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let rest = socket.waiting.split().freeze();
                    tokio::spawn(write_rest(id, half, rest, self.sender.clone()));
                    return;
                }
                // The reader learns of the broken connection as well, and reports it.
                Err(_) => return,
            }
        }
        socket.half = Some(half);
        self.written.push((id, socket.sent));
    }

    fn take(&mut self, now: Time, message: Message, fleet: &mut Fleet, effects: &mut Vec<Effect>) {
        let (id, inputs) = match message {
            Message::Connected(id, half) => {
                let Some(socket) = self.sockets.get_mut(&id) else { return };
                socket.half = Some(half);
                (id, vec![client::Input::Connected(id.1)])
            }
            Message::Frames(id, frames) => {
                let inputs = frames.into_iter().map(|frame| client::Input::Frame(id.1, frame));
                (id, inputs.collect())
            }
            Message::Written(id, half) => {
                let Some(socket) = self.sockets.get_mut(&id) else { return };
                socket.half = Some(half);
                return self.write(id);
            }
            Message::Closed(id) => (id, vec![client::Input::Closed(id.1)]),
        };
        for input in inputs {
            let closed = matches!(input, client::Input::Closed(_));
            let known = if closed {
                self.sockets.remove(&id).is_some()
            } else {
                self.sockets.contains_key(&id)
            };
            if known {
                fleet.step(now, Input::Net(id.0, input), effects);
            }
        }
    }

    /// Whether the loop comes to what was due at `wanted` too late, whatever woke it.
    fn note_lateness(&mut self, wanted: Instant) -> bool {
        let late = wanted.elapsed() > LATE;
        if late {
            let from = Time::from_nanos((wanted - self.zero).as_nanos() as u64);
            self.late.push((from, self.now()));
        }
        late
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        for socket in self.sockets.values() {
            socket.reader.abort();
        }
    }
}

async fn connect_and_read(id: SocketId, address: Address, sender: mpsc::UnboundedSender<Message>) {
    if let Ok(stream) = TcpStream::connect((address.host.as_str(), address.port)).await {
        // Without it small requests would wait for the answers to those before them.
        let _best_effort = stream.set_nodelay(true);
        let (reader, writer) = stream.into_split();
        if sender.send(Message::Connected(id, writer)).is_ok() {
            read_frames(id, reader, &sender).await;
        }
    }
    let _driver_gone = sender.send(Message::Closed(id));
}

/// Reads until the connection ends or sends something that is no frame.
async fn read_frames(
    id: SocketId,
    mut reader: OwnedReadHalf,
    sender: &mpsc::UnboundedSender<Message>,
) {
    let mut buffer = FrameBuffer::new(MAX_FRAME_BYTES);
    while matches!(reader.read_buf(buffer.space()).await, Ok(read) if read > 0) {
        let mut frames = Vec::new();
        loop {
            match buffer.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if !frames.is_empty() && sender.send(Message::Frames(id, frames)).is_err() {
            return;
        }
    }
}

async fn write_rest(
    id: SocketId,
    mut half: OwnedWriteHalf,
    rest: Bytes,
    sender: mpsc::UnboundedSender<Message>,
) {
    if half.write_all(&rest).await.is_ok() {
        let _driver_gone = sender.send(Message::Written(id, half));
    }
}
