//! The cluster, its network and its clock: takes the next event and sees what comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use highwater_broker::{ConnId, Effect, Input, OpId};
use highwater_log::{Command, Done, LogId};
use highwater_node_core::rule::Rules;
use highwater_node_core::types::{PartitionId, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::checks::{Checked, Checks, METADATA};
use super::client::{self, Action, Client};
use super::faults::Fault;
use super::host::{BROKERS, CONTROLLER, Host};
use super::net::{End, Net, Payload, PipeId, Place, Side};

/// When a run begins: the clock counts from 1970.
const BEGIN: Time = Time(1_700_000_000_000_000_000);
/// Nanoseconds in a microsecond.
const MICRO: u64 = 1_000;

/// Something that happens at its time.
pub enum Event {
    Deliver { pipe: PipeId, to: Side },
    Disk { place: Place, run: u64 },
    Wake { place: Place, run: u64, at: Time },
    Client { index: usize, serial: u64 },
    Timeout { index: usize, serial: u64 },
    Fault(Fault),
}

/// A client and its connection.
pub struct Seat {
    pub client: Client,
    place: Place,
    pipe: Option<(Place, PipeId)>,
    /// The request whose answer is waited for; timers of others are over.
    asking: Option<u64>,
    /// The sleep that is on.
    sleep: u64,
}

pub struct World {
    pub now: Time,
    pub rng: ChaCha8Rng,
    pub hosts: BTreeMap<Place, Host>,
    pub net: Net,
    pub seats: Vec<Seat>,
    pub checks: Checks,
    pub topic_ready: bool,
    pub faults_over: bool,
    rules: Rules,
    seed: u64,
    queue: BTreeMap<(Time, u64), Event>,
    next_serial: u64,
    trace: DefaultHasher,
    partitions: BTreeSet<PartitionId>,
}

impl World {
    pub fn new(seed: u64, rules: Rules) -> World {
        let places = BROKERS.into_iter().chain([CONTROLLER]);
        let mut world = World {
            now: BEGIN,
            rng: ChaCha8Rng::seed_from_u64(seed),
            hosts: places.map(|place| (place, Host::new(place))).collect(),
            net: Net::default(),
            seats: Vec::new(),
            checks: Checks::default(),
            topic_ready: false,
            faults_over: false,
            rules,
            seed,
            queue: BTreeMap::new(),
            next_serial: 0,
            trace: DefaultHasher::new(),
            partitions: BTreeSet::new(),
        };
        for place in [CONTROLLER].into_iter().chain(BROKERS) {
            world.schedule_ms(0, Event::Fault(Fault::Start(place)));
        }
        world
    }

    /// A number that two runs of one seed share: it follows from all that happened.
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    pub fn add_client(&mut self, client: Client) {
        let index = self.seats.len();
        let place = Place(101 + index as i32);
        self.seats.push(Seat { client, place, pipe: None, asking: None, sleep: 0 });
        self.sleep(index, 0);
    }

    pub fn schedule_ms(&mut self, ms: u64, event: Event) {
        let at = self.now.plus_ms(ms);
        self.schedule(at, event);
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.next_serial += 1;
        self.queue.insert((at, self.next_serial), event);
    }

    /// Takes the next event.
    pub fn advance(&mut self) -> Checked {
        let ((at, _), event) = self.queue.pop_first().ok_or("nothing happens any more")?;
        self.now = at;
        match event {
            Event::Deliver { pipe, to } => self.deliver(pipe, to),
            Event::Disk { place, run } => self.run_disk(place, run),
            Event::Wake { place, run, at } => self.wake(place, run, at),
            Event::Client { index, serial } => {
                if self.seats[index].sleep == serial {
                    return self.tell_client(index, client::Input::Wake);
                }
                Ok(())
            }
            Event::Timeout { index, serial } => {
                if self.seats[index].asking == Some(serial) {
                    self.disconnect(index);
                    return self.tell_client(index, client::Input::Lost);
                }
                Ok(())
            }
            Event::Fault(fault) => self.strike(fault),
        }
    }

    // ---- processes ----------------------------------------------------------------------------

    pub fn start(&mut self, place: Place) -> Checked {
        let host = self.hosts.get_mut(&place).expect("faults name hosts");
        if host.process.is_some() {
            return Ok(());
        }
        host.start(self.rules, self.seed ^ place.0 as u64);
        self.input(place, Input::Start)
    }

    /// Kills a process: its peers see their connections end, and maybe not the last frames.
    pub fn kill(&mut self, place: Place) {
        let host = self.hosts.get_mut(&place).expect("faults name hosts");
        let Some(process) = host.kill() else { return };
        self.checks.stats.kills += 1;
        for (pipe, side) in process.conns.into_values() {
            if self.rng.random_bool(0.5) {
                self.net.pipes.get_mut(&pipe).expect("pipes stay").lost = true;
            }
            self.send(pipe, 1 - side, Payload::Closed);
        }
    }

    pub fn resume(&mut self, place: Place) -> Checked {
        let host = self.hosts.get_mut(&place).expect("faults name hosts");
        host.paused = false;
        if let Some(process) = &mut host.process {
            process.wake = None; // it may have passed unseen
        }
        loop {
            let process = self.hosts.get_mut(&place).and_then(|host| host.process.as_mut());
            let Some(input) = process.and_then(|process| process.inbox.pop_front()) else { break };
            self.input(place, input)?;
        }
        self.input(place, Input::Tick)
    }

    fn wake(&mut self, place: Place, run: u64, at: Time) -> Checked {
        let host = self.hosts.get_mut(&place).expect("events name hosts");
        let due = host.run == run && host.is_running();
        match host.process.as_mut() {
            Some(process) if due && process.wake == Some(at) => {
                process.wake = None;
                self.input(place, Input::Tick)
            }
            _ => Ok(()),
        }
    }

    pub fn input(&mut self, place: Place, input: Input) -> Checked {
        let host = self.hosts.get_mut(&place).expect("inputs name hosts");
        let (run, paused) = (host.run, host.paused);
        let Some(process) = host.process.as_mut() else { return Ok(()) };
        if paused {
            process.inbox.push_back(input);
            return Ok(());
        }
        note(&mut self.trace, self.now, place, &input);
        let mut effects = Vec::new();
        process.node.step(self.now, input, &mut effects);
        self.observe(place)?;
        for effect in effects {
            self.carry_out(place, effect)?;
        }
        self.set_wake(place, run);
        Ok(())
    }

    fn observe(&mut self, place: Place) -> Checked {
        let host = &self.hosts[&place];
        let Some(process) = &host.process else { return Ok(()) };
        if place == CONTROLLER {
            let image = process.node.controller().image();
            // A controller that has just started has not read its log yet.
            self.partitions.extend(image.partitions().map(|(id, _)| id));
            return self.checks.observe_controller(&process.node);
        }
        self.checks.observe_broker(place, host.run, &process.node, &self.partitions)
    }

    fn set_wake(&mut self, place: Place, run: u64) {
        let host = self.hosts.get_mut(&place).expect("inputs name hosts");
        let Some(process) = host.process.as_mut() else { return };
        let Some(at) = process.node.next_wake() else { return };
        let at = at.max(self.now);
        if process.wake.is_none_or(|known| at < known) {
            process.wake = Some(at);
            self.schedule(at, Event::Wake { place, run, at });
        }
    }

    fn carry_out(&mut self, place: Place, effect: Effect) -> Checked {
        let host = self.hosts.get_mut(&place).expect("effects come from hosts");
        let run = host.run;
        let Some(process) = host.process.as_mut() else { return Ok(()) };
        match effect {
            Effect::Send { conn, parts } => {
                if let Some((pipe, side)) = process.conns.get(&conn).copied() {
                    let frame: Bytes = parts.concat().into();
                    self.send(pipe, 1 - side, Payload::Frame(frame));
                }
            }
            Effect::Close { conn } => {
                if let Some((pipe, side)) = process.conns.remove(&conn) {
                    self.send(pipe, 1 - side, Payload::Closed);
                }
            }
            Effect::Dial { conn, address } => self.dial(End { place, run, conn }, &address),
            Effect::Disk { op, command } => self.queue_command(place, op, command),
            Effect::Ready => process.ready = true,
            Effect::Exit { status: 0 } => {
                self.kill(place);
                let ms = self.rng.random_range(10..300);
                self.schedule_ms(ms, Event::Fault(Fault::Start(place)));
            }
            Effect::Exit { status } => {
                return Err(format!("{place:?} gives up with status {status}"));
            }
            Effect::Event(event) => {
                format!("{event:?}").hash(&mut self.trace);
                if std::env::var_os("HIGHWATER_TRACE").is_some() {
                    println!("{} {place:?} {event:?}", (self.now.0 - BEGIN.0) / 1_000);
                }
            }
            Effect::Pause { .. } | Effect::Resume { .. } => {}
        }
        Ok(())
    }

    // ---- disks --------------------------------------------------------------------------------

    fn queue_command(&mut self, place: Place, op: OpId, command: Command) {
        let process = self.hosts.get_mut(&place).and_then(|host| host.process.as_mut());
        let process = process.expect("commands come from processes");
        process.disk_queue.push_back((op, command));
        if !process.disk_busy {
            process.disk_busy = true;
            self.schedule_disk(place);
        }
    }

    fn schedule_disk(&mut self, place: Place) {
        let host = &self.hosts[&place];
        let (run, longest) = (host.run, if host.slow_disk { 40_000 } else { 400 });
        let at = Time(self.now.0 + self.rng.random_range(20..longest) * MICRO);
        self.schedule(at, Event::Disk { place, run });
    }

    /// The disk's thread takes its next command; a paused process's thread stands still too.
    fn run_disk(&mut self, place: Place, run: u64) -> Checked {
        let now_ms = (self.now.0 / 1_000_000) as i64;
        let host = self.hosts.get_mut(&place).expect("events name hosts");
        if host.run != run {
            return Ok(());
        }
        if host.paused {
            self.schedule_disk(place);
            return Ok(());
        }
        let Some(process) = host.process.as_mut() else { return Ok(()) };
        let Some((op, command)) = process.disk_queue.pop_front() else {
            process.disk_busy = false;
            return Ok(());
        };
        let done = process.store.execute(now_ms, command.clone());
        if let Command::Open { log, dir, .. } = &command {
            process.logs.insert(*log, partition_of(dir));
        }
        let touched = log_of(&command).and_then(|log| process.logs.get(&log)).copied();
        self.schedule_disk(place);
        if let Some(partition) = touched {
            self.checks.executed(place, partition, &command, &done)?;
        }
        self.input(place, Input::Disk { op, done })
    }

    // ---- network ------------------------------------------------------------------------------

    fn dial(&mut self, from: End, address: &str) {
        let number = address.strip_prefix('n').and_then(|rest| rest.split(':').next());
        let number = number.and_then(|number| number.parse().ok());
        let to = Place(number.expect("addresses are those that hosts advertise"));
        let pipe = self.net.add(from, to);
        let process = self.hosts.get_mut(&from.place).and_then(|host| host.process.as_mut());
        let process = process.expect("who dials runs");
        process.conns.insert(from.conn, (pipe, 0));
        let listener = if to == CONTROLLER { "CONTROLLER" } else { "PLAINTEXT" };
        self.send(pipe, 1, Payload::Open { listener });
    }

    /// Sends something to one side of a pipe; nothing overtakes on its way.
    fn send(&mut self, pipe: PipeId, to: Side, payload: Payload) {
        let ends = self.net.pipes[&pipe].ends;
        let slow = ends.iter().any(|end| self.net.slow.contains(&end.place));
        let micros = match self.rng.random_range(0..100) {
            0..90 => self.rng.random_range(50..800),
            90..99 => self.rng.random_range(800..6_000),
            _ => self.rng.random_range(6_000..60_000),
        };
        let delay = micros * MICRO * if slow { 20 } else { 1 };
        let entry = self.net.pipes.get_mut(&pipe).expect("pipes stay");
        let due = (self.now.0 + delay).max(entry.last_due[to] + 1);
        entry.last_due[to] = due;
        entry.coming[to].push_back(payload);
        self.schedule(Time(due), Event::Deliver { pipe, to });
    }

    /// Delivers what was held back while a way was cut.
    pub fn unpark(&mut self) {
        let pipes: Vec<PipeId> = self.net.pipes.keys().copied().collect();
        for pipe in pipes {
            for to in [0, 1] {
                if self.net.is_cut(pipe, to) {
                    continue;
                }
                let parked = std::mem::take(
                    &mut self.net.pipes.get_mut(&pipe).expect("pipes stay").parked[to],
                );
                for _ in 0..parked {
                    let ms = self.rng.random_range(1..20);
                    self.schedule_ms(ms, Event::Deliver { pipe, to });
                }
            }
        }
    }

    /// Ends a connection from both sides, with what is under way on it.
    pub fn reset(&mut self, pipe: PipeId) {
        self.net.pipes.get_mut(&pipe).expect("pipes stay").lost = true;
        self.send(pipe, 0, Payload::Closed);
        self.send(pipe, 1, Payload::Closed);
    }

    fn deliver(&mut self, id: PipeId, to: Side) -> Checked {
        let cut = self.net.is_cut(id, to);
        let pipe = self.net.pipes.get_mut(&id).expect("pipes stay");
        if cut {
            pipe.parked[to] += 1;
            return Ok(());
        }
        let Some(payload) = pipe.coming[to].pop_front() else { return Ok(()) };
        if pipe.lost && matches!(payload, Payload::Frame(_)) {
            return Ok(());
        }
        let end = pipe.ends[to];
        if let Some(index) = self.seats.iter().position(|seat| seat.place == end.place) {
            return self.deliver_to_client(index, id, payload);
        }
        if let Payload::Open { listener } = payload {
            return self.accept(id, end.place, listener);
        }
        let host = self.hosts.get_mut(&end.place).expect("ends are hosts or clients");
        let current = host.run == end.run;
        let Some(process) = host.process.as_mut().filter(|_| current) else { return Ok(()) };
        let conn = end.conn;
        if !process.conns.contains_key(&conn) {
            return Ok(());
        }
        let input = match payload {
            Payload::Opened(open) => Input::Dialed { conn, open },
            Payload::Frame(frame) => Input::Frame { conn, frame },
            Payload::Closed => Input::Closed { conn },
            Payload::Open { .. } => unreachable!("openings were handled"),
        };
        if matches!(input, Input::Closed { .. } | Input::Dialed { open: false, .. }) {
            process.conns.remove(&conn);
        }
        self.input(end.place, input)
    }

    fn accept(&mut self, pipe: PipeId, place: Place, listener: &str) -> Checked {
        let host = self.hosts.get_mut(&place).expect("openings go to hosts");
        let run = host.run;
        let Some(process) = host.process.as_mut() else {
            self.send(pipe, 0, Payload::Opened(false));
            return Ok(());
        };
        let conn = ConnId(process.next_accepted);
        process.next_accepted += 2;
        process.conns.insert(conn, (pipe, 1));
        self.net.pipes.get_mut(&pipe).expect("pipes stay").ends[1] = End { place, run, conn };
        self.send(pipe, 0, Payload::Opened(true));
        let (listener, peer) = (listener.to_owned(), String::new());
        self.input(place, Input::Accepted { conn, listener, peer })
    }

    // ---- clients ------------------------------------------------------------------------------

    fn deliver_to_client(&mut self, index: usize, pipe: PipeId, payload: Payload) -> Checked {
        let seat = &mut self.seats[index];
        if seat.pipe.is_none_or(|(_, known)| known != pipe) {
            return Ok(());
        }
        match payload {
            Payload::Frame(frame) => {
                seat.asking = None;
                self.tell_client(index, client::Input::Answer(frame))
            }
            Payload::Closed | Payload::Opened(false) => {
                seat.pipe = None;
                seat.asking = None;
                self.tell_client(index, client::Input::Lost)
            }
            Payload::Opened(true) | Payload::Open { .. } => Ok(()),
        }
    }

    fn tell_client(&mut self, index: usize, input: client::Input) -> Checked {
        let actions = self.seats[index].client.step(self.now, input, &mut self.rng);
        for action in actions {
            self.do_for_client(index, action)?;
        }
        Ok(())
    }

    fn do_for_client(&mut self, index: usize, action: Action) -> Checked {
        match action {
            Action::Send { to, frame, answered } => self.client_sends(index, to, frame, answered),
            Action::Sleep { ms } => self.sleep(index, ms),
            Action::Acked { partition, offset, values, acks } => {
                return self.checks.acked(partition, offset, &values, acks);
            }
            Action::Read { partition, offset, epoch, value } => {
                return self.checks.read(partition, offset, epoch, value);
            }
            Action::RepeatRefused { partition, value } => {
                return self.checks.repeat_refused(partition, value);
            }
            Action::TopicReady => self.topic_ready = true,
        }
        Ok(())
    }

    pub fn sleep(&mut self, index: usize, ms: u64) {
        self.next_serial += 1;
        let serial = self.next_serial;
        self.seats[index].sleep = serial;
        self.schedule_ms(ms, Event::Client { index, serial });
    }

    fn client_sends(&mut self, index: usize, to: Place, frame: Bytes, answered: bool) {
        let open = self.seats[index].pipe.filter(|(known, _)| *known == to);
        let pipe = open.map_or_else(|| self.connect(index, to), |(_, pipe)| pipe);
        self.send(pipe, 1, Payload::Frame(frame));
        if answered {
            self.next_serial += 1;
            let serial = self.next_serial;
            self.seats[index].asking = Some(serial);
            let ms = self.seats[index].client.timeout_ms();
            self.schedule_ms(ms, Event::Timeout { index, serial });
        } else {
            let ms = self.rng.random_range(1..40);
            self.sleep(index, ms);
        }
    }

    fn connect(&mut self, index: usize, to: Place) -> PipeId {
        self.disconnect(index);
        let from = End { place: self.seats[index].place, run: 0, conn: ConnId(0) };
        let pipe = self.net.add(from, to);
        self.seats[index].pipe = Some((to, pipe));
        self.send(pipe, 1, Payload::Open { listener: "PLAINTEXT" });
        pipe
    }

    fn disconnect(&mut self, index: usize) {
        self.seats[index].asking = None;
        if let Some((_, pipe)) = self.seats[index].pipe.take() {
            self.send(pipe, 1, Payload::Closed);
        }
    }
}

/// Everything that reaches a node, in order, is what a run is.
fn note(trace: &mut DefaultHasher, now: Time, place: Place, input: &Input) {
    (now.0, place.0).hash(trace);
    match input {
        Input::Frame { conn, frame } => (conn.0, frame).hash(trace),
        Input::Disk { op, done } => (op.0, matches!(done, Ok(Done::Appended { .. }))).hash(trace),
        Input::Accepted { conn, .. } | Input::Dialed { conn, .. } | Input::Closed { conn } => {
            conn.0.hash(trace);
        }
        Input::Start | Input::Tick | Input::Shutdown => {}
    }
}

fn partition_of(dir: &str) -> i32 {
    let index = dir.strip_prefix("t-").map(|index| index.parse().expect("a partition's number"));
    index.unwrap_or(METADATA)
}

fn log_of(command: &Command) -> Option<LogId> {
    match command {
        Command::Open { log, .. }
        | Command::Append { log, .. }
        | Command::Truncate { log, .. }
        | Command::TruncateFully { log, .. } => Some(*log),
        _ => None,
    }
}
