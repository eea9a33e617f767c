//! All clients of a run as one value: who operates when, sessions that end and follow each other.

mod counts;
mod crash;
mod events;
mod session;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
pub use counts::Counts;
pub use crash::{Crashed, Kind, Victims};
use events::Names;
use highwater_history::{Event, types::ClientId};
use session::Session;

use crate::{
    Catalog, Completion, Op, Settings, Time,
    client::{self, Address, Client, ClientConfig, Conn, Slot},
    workload::{Entry, Generator, Planned, Role, Seat, Start},
};

/// What the fleet is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Begin; the first input.
    Start,
    /// Something happened on a connection of this client.
    Net(ClientId, client::Input),
    /// The moment named by [`Fleet::next_wake`] has come.
    Tick,
    /// No new operations; those in flight go on to their end.
    Stop,
}

/// What the fleet wants done.
///
/// Every `Record` of one step must be with the kernel before any `Send` of that step leaves.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Append to the history.
    Record(Box<Event>),
    /// Dial; answered by `Connected` or `Closed`.
    Connect(ClientId, Conn, Address),
    /// Write a whole request, without its length prefix; answered by `Written`.
    Send(ClientId, Conn, Bytes),
    /// Close; no answer comes.
    Close(ClientId, Conn),
}

/// What a fleet is made with.
#[derive(Debug, Clone)]
pub struct FleetConfig {
    /// Settings of workload and clients.
    pub settings: Settings,
    /// Every key of the run.
    pub catalog: Catalog,
    /// The brokers' client listeners.
    pub bootstrap: Vec<Address>,
    /// The seed of the run.
    pub seed: u64,
    /// The wall clock at the run's zero, in Unix milliseconds.
    pub unix_zero_ms: i64,
}

/// A seat and who has it.
#[derive(Debug)]
struct SeatState {
    role: Role,
    client: ClientId,
    /// How many clients it has had.
    clients: u32,
    /// When its client began.
    opened_at: Time,
    /// Whether its client retired and has no successor yet.
    vacant: bool,
    next: Option<Planned>,
}

/// The least time between two clients of a seat: a cluster that refuses everything must not be met
/// with a storm of new connections.
const REOPEN_AFTER: Duration = Duration::from_millis(100);

impl SeatState {
    fn new(role: Role) -> SeatState {
        let (opened_at, next) = (Time::ZERO, None);
        SeatState { role, client: 0, clients: 0, opened_at, vacant: false, next }
    }

    /// When the seat may have its next client, while it waits for one.
    fn reopens_at(&self) -> Option<Time> {
        self.vacant.then(|| self.opened_at + REOPEN_AFTER)
    }
}

/// The clients of a run and the generator that occupies them.
pub struct Fleet {
    settings: Arc<Settings>,
    catalog: Arc<Catalog>,
    names: Names,
    bootstrap: Vec<Address>,
    unix_zero_ms: i64,
    generator: Box<dyn Generator>,
    seats: Vec<SeatState>,
    sessions: BTreeMap<ClientId, Session>,
    next_client: ClientId,
    next_process: u64,
    started_at: Time,
    stopped: bool,
    counts: Counts,
    effects: Vec<client::Effect>,
}

impl Fleet {
    /// A fleet that has not begun, of this workload.
    pub fn new(workload: &Entry, config: FleetConfig) -> Fleet {
        let FleetConfig { settings, catalog, bootstrap, seed, unix_zero_ms } = config;
        let generator = (workload.generator)(&settings, &catalog, seed);
        let seats = (workload.seats)(&settings).into_iter().map(SeatState::new).collect();
        Fleet {
            names: Names::new(&catalog),
            settings: Arc::new(settings),
            catalog: Arc::new(catalog),
            bootstrap,
            unix_zero_ms,
            generator,
            seats,
            sessions: BTreeMap::new(),
            next_client: 0,
            next_process: 0,
            started_at: Time::ZERO,
            stopped: false,
            counts: Counts::default(),
            effects: Vec::new(),
        }
    }

    /// Takes one input at `now` and appends what follows from it.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Start => self.start(now, out),
            Input::Net(client, input) => self.step_client(now, client, input, out),
            Input::Tick => self.tick(now, out),
            Input::Stop => self.stopped = true,
        }
    }

    /// When the next tick is due, if nothing else comes before.
    pub fn next_wake(&self) -> Option<Time> {
        let clients = self.sessions.values().filter_map(|session| session.client.next_wake());
        let seats = self.seats.iter().filter_map(|seat| {
            let session = self.sessions.get(&seat.client)?;
            let ready = !self.stopped && session.takes_operations();
            seat.next.as_ref().filter(|_| ready).map(|planned| self.absolute(planned.start))
        });
        let vacant = self.seats.iter().filter_map(SeatState::reopens_at);
        let vacant = vacant.filter(|_| !self.stopped);
        clients.chain(seats).chain(vacant).min()
    }

    /// The first numbers that no client and no process bears yet.
    pub fn next_numbers(&self) -> (ClientId, u64) {
        (self.next_client, self.next_process)
    }

    /// Whether no operation is in flight.
    pub fn is_idle(&self) -> bool {
        self.sessions.values().all(Session::is_idle)
    }

    /// What happened so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn start(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.started_at = now;
        for event in self.names.open_topics(now, &self.catalog) {
            out.push(Effect::Record(Box::new(event)));
        }
        for seat in 0..self.seats.len() as u32 {
            self.open(now, Seat(seat), out);
        }
    }

    fn tick(&mut self, now: Time, out: &mut Vec<Effect>) {
        let due = |session: &Session| session.client.next_wake().is_some_and(|wake| wake <= now);
        let clients: Vec<ClientId> =
            self.sessions.iter().filter(|(_, session)| due(session)).map(|(id, _)| *id).collect();
        for client in clients {
            self.step_client(now, client, client::Input::Tick, out);
        }
        for seat in 0..self.seats.len() as u32 {
            self.fill(now, Seat(seat), out);
            self.pump(now, Seat(seat), out);
        }
    }

    /// Gives a vacant seat its next client when it is time.
    fn fill(&mut self, now: Time, seat: Seat, out: &mut Vec<Effect>) {
        let due = self.seats[seat.0 as usize].reopens_at().is_some_and(|at| at <= now);
        if due && !self.stopped {
            self.generator.reset(seat);
            self.open(now, seat, out);
        }
    }

    /// Gives the seat a new client.
    fn open(&mut self, now: Time, seat: Seat, out: &mut Vec<Effect>) {
        let id = self.next_client;
        self.next_client += 1;
        let state = &mut self.seats[seat.0 as usize];
        let turn = (seat.0 + state.clients) as usize % self.bootstrap.len();
        (state.opened_at, state.vacant) = (now, false);
        state.client = id;
        state.clients += 1;
        let mut bootstrap = self.bootstrap.clone();
        bootstrap.rotate_left(turn);
        let config = ClientConfig {
            client_id: format!("highwater-{id}"),
            bootstrap,
            catalog: Arc::clone(&self.catalog),
            settings: Arc::clone(&self.settings),
            unix_zero_ms: self.unix_zero_ms,
        };
        let (client, slots) = match state.role {
            Role::Producer(acks) => (Client::producer(config, acks), self.settings.in_flight),
            Role::Consumer => (Client::consumer(config), 1),
        };
        let session = Session::new(seat, client, slots, self.next_process);
        self.next_process += u64::from(slots);
        self.sessions.insert(id, session);
        self.step_client(now, id, client::Input::Start, out);
    }

    fn step_client(
        &mut self,
        now: Time,
        id: ClientId,
        input: client::Input,
        out: &mut Vec<Effect>,
    ) {
        // A retired client may be gone while a message of its connections is still under way.
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let seat = session.seat;
        let mut effects = std::mem::take(&mut self.effects);
        session.client.step(now, input, &mut effects);
        for effect in effects.drain(..) {
            self.perform(now, id, effect, out);
        }
        self.effects = effects;
        self.replace_retired(now, id, seat, out);
        self.pump(now, seat, out);
    }

    fn perform(&mut self, now: Time, id: ClientId, effect: client::Effect, out: &mut Vec<Effect>) {
        match effect {
            client::Effect::Connect(conn, address) => out.push(Effect::Connect(id, conn, address)),
            client::Effect::Send(conn, frame) => out.push(Effect::Send(id, conn, frame)),
            client::Effect::Close(conn) => out.push(Effect::Close(id, conn)),
            client::Effect::Opened { producer } => {
                let session = self.sessions.get_mut(&id).expect("an open client has a session");
                session.open = true;
                let role = self.seats[session.seat.0 as usize].role;
                let event = events::open(now, (id, role), &self.settings, session, producer);
                out.push(Effect::Record(Box::new(event)));
            }
            client::Effect::Complete(slot, completion) => {
                self.complete(now, id, slot, &completion, out);
            }
        }
    }

    fn complete(
        &mut self,
        now: Time,
        id: ClientId,
        slot: Slot,
        completion: &Completion,
        out: &mut Vec<Effect>,
    ) {
        let session = self.sessions.get_mut(&id).expect("an operating client has a session");
        let (process, op) = session.finish(slot);
        let role = self.seats[session.seat.0 as usize].role;
        self.counts.add(now, role, &op, completion);
        self.generator.observe(session.seat, completion);
        let event = events::completion(now, process, &op, completion, &self.names);
        out.push(Effect::Record(Box::new(event)));
    }

    /// A client that ended in doubt is followed by a new one; it leaves when its last operation has
    /// ended.
    fn replace_retired(&mut self, now: Time, id: ClientId, seat: Seat, out: &mut Vec<Effect>) {
        let retired = self.sessions.get(&id).filter(|session| session.client.is_retired());
        let Some(idle) = retired.map(Session::is_idle) else { return };
        if idle {
            self.sessions.remove(&id);
        }
        let state = &mut self.seats[seat.0 as usize];
        if state.client == id {
            state.vacant = true;
            self.fill(now, seat, out);
        }
    }

    /// Starts what is due at a seat.
    fn pump(&mut self, now: Time, seat: Seat, out: &mut Vec<Effect>) {
        while !self.stopped {
            let state = &mut self.seats[seat.0 as usize];
            let id = state.client;
            let ready = self.sessions.get(&id).is_some_and(Session::takes_operations);
            let planned = state.next.get_or_insert_with(|| self.generator.next(seat));
            let due = self.started_at + (planned.start.time() - Time::ZERO);
            if !ready || due > now {
                return;
            }
            let Planned { start, op } = state.next.take().expect("the seat has a plan");
            let intended = if let Start::At(_) = start { due } else { now };
            self.operate(now, id, intended, op, out);
        }
    }

    fn operate(&mut self, now: Time, id: ClientId, intended: Time, op: Op, out: &mut Vec<Effect>) {
        let session = self.sessions.get_mut(&id).expect("an operating client has a session");
        let (slot, process) = session.begin(op.clone());
        let event = events::invocation((now, intended), process, &op, &self.names);
        out.push(Effect::Record(Box::new(event)));
        self.counts.begin(now, &op);
        let mut effects = Vec::new();
        session.client.step(now, client::Input::Operate(slot, op), &mut effects);
        for effect in effects {
            self.perform(now, id, effect, out);
        }
    }

    fn absolute(&self, planned: Start) -> Time {
        self.started_at + (planned.time() - Time::ZERO)
    }
}
