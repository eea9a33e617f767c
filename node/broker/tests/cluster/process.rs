//! Processes: their starts and ends, what they are told, what they want.

use std::hash::{DefaultHasher, Hash};

use bytes::Bytes;
use highwater_broker::{Effect, Input};
use highwater_log::Done;
use highwater_node_core::types::Time;
use rand::RngExt;

use super::checks::Checked;
use super::faults::Fault;
use super::host::CONTROLLER;
use super::net::{End, Payload, Place};
use super::world::{BEGIN, Event, World};

impl World {
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

    pub fn wake(&mut self, place: Place, run: u64, at: Time) -> Checked {
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
        self.checks.observe_broker(self.now, place, host.run, &process.node, &self.partitions)
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
        Input::Start | Input::Tick | Input::Shutdown | Input::DiskFailed { .. } => {}
    }
}
