//! The network at work: dials, deliveries, resets.

use highwater_broker::{ConnId, Input};
use highwater_node_core::types::Time;
use rand::RngExt;

use super::checks::Checked;
use super::host::CONTROLLER;
use super::net::{End, Payload, PipeId, Place, Side};
use super::world::{Event, MICRO, World};

impl World {
    pub fn dial(&mut self, from: End, address: &str) {
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
    pub fn send(&mut self, pipe: PipeId, to: Side, payload: Payload) {
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

    pub fn deliver(&mut self, id: PipeId, to: Side) -> Checked {
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
}
