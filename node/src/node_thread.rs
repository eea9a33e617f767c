//! The thread that owns the node: one input after the other, then what follows from it.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};

use highwater_broker::log::Command;
use highwater_broker::{ConnId, Effect, Effects, Input, Node, OpId};

use crate::clock::Clock;
use crate::log_lines;
use crate::message::Message;
use crate::net::{Connection, Dialer};

/// The node and its ways out.
pub struct NodeThread {
    /// What decides.
    pub node: Node,
    /// Its time.
    pub clock: Clock,
    /// What happened outside.
    pub messages: Receiver<Message>,
    /// To the disk.
    pub disk: Sender<(OpId, Command)>,
    /// To other nodes.
    pub dialer: Dialer,
    /// What is printed when it serves.
    pub ready_line: String,
    /// Open connections, of both kinds.
    pub connections: BTreeMap<ConnId, Arc<Connection>>,
}

impl NodeThread {
    /// Runs the node to its end, and gives its exit status.
    pub fn run(mut self) -> i32 {
        let mut effects = Effects::new();
        let mut input = Some(Input::Start);
        loop {
            if let Some(input) = input.take() {
                self.node.step(self.clock.now(), input, &mut effects);
            }
            for effect in effects.drain(..) {
                if let Some(status) = self.perform(effect) {
                    return status;
                }
            }
            input = match self.next() {
                Ok(message) => self.input(message),
                Err(RecvTimeoutError::Timeout) => Some(Input::Tick),
                Err(RecvTimeoutError::Disconnected) => return 0,
            };
        }
    }

    fn next(&self) -> Result<Message, RecvTimeoutError> {
        match self.node.next_wake() {
            Some(time) => self.messages.recv_timeout(self.clock.until(time)),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn input(&mut self, message: Message) -> Option<Input> {
        Some(match message {
            Message::Accepted { connection, listener, peer } => {
                let conn = connection.id();
                self.connections.insert(conn, connection);
                Input::Accepted { conn, listener, peer }
            }
            Message::Dialed { conn, connection } => {
                let open = connection.is_some();
                self.connections.extend(connection.map(|connection| (conn, connection)));
                Input::Dialed { conn, open }
            }
            Message::Frame { conn, frame } => {
                // One that the node has closed may still have had frames on their way.
                self.connections.get(&conn)?.taken();
                Input::Frame { conn, frame }
            }
            Message::Closed { conn } => {
                self.connections.remove(&conn).map(|_| Input::Closed { conn })?
            }
            Message::Disk { op, done } => Input::Disk { op, done },
            Message::DiskFailed { error } => Input::DiskFailed { error },
            Message::Shutdown => Input::Shutdown,
        })
    }

    /// Does what the node asks for; gives the exit status when it asks to stop.
    fn perform(&mut self, effect: Effect) -> Option<i32> {
        match effect {
            Effect::Send { conn, parts } => {
                if let Some(connection) = self.connections.get(&conn) {
                    connection.send(&parts);
                }
            }
            Effect::Pause { conn } => self.set_paused(conn, true),
            Effect::Resume { conn } => self.set_paused(conn, false),
            Effect::Close { conn } => {
                if let Some(connection) = self.connections.remove(&conn) {
                    connection.close();
                }
            }
            Effect::Dial { conn, address } => self.dialer.dial(conn, address),
            Effect::Disk { op, command } => {
                self.disk.send((op, command)).expect("the disk thread outlives the node");
            }
            Effect::Event(event) => log_lines::write(&event),
            Effect::Ready => self.print_ready(),
            Effect::Exit { status } => return Some(status),
        }
        None
    }

    fn set_paused(&self, conn: ConnId, paused: bool) {
        if let Some(connection) = self.connections.get(&conn) {
            connection.set_paused(paused);
        }
    }

    /// A reader that has gone away does not stop the node.
    fn print_ready(&self) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{}", self.ready_line).and_then(|()| out.flush());
    }
}
