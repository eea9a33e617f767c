//! Kafka clients without I/O: operations, frames and ticks in; frames and completions out.

use bytes::Bytes;

use crate::{Completion, Op, Time};

/// A connection of one client, numbered in the order dialed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conn(pub u32);

/// One of a client's places for an operation in flight; each is a process of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// Where a broker listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Name or number of the host.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// What a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Begin; the first input.
    Start,
    /// Do this; the slot must be free and the client open.
    Operate(Slot, Op),
    /// The connection stands.
    Connected(Conn),
    /// A whole response, without its length prefix.
    Frame(Conn, Bytes),
    /// The connection could not be made, or is gone.
    Closed(Conn),
    /// The moment named by [`Client::next_wake`] has come.
    Tick,
}

/// What a client wants done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Dial; answered by `Connected` or `Closed`.
    Connect(Conn, Address),
    /// Write a whole request, without its length prefix.
    Send(Conn, Vec<Bytes>),
    /// Close; no answer comes, and nothing more of this connection.
    Close(Conn),
    /// The client is ready for operations.
    Opened {
        /// Producer id and epoch, for an idempotent producer.
        producer: Option<(i64, i16)>,
    },
    /// The slot's operation ended; the slot is free.
    Complete(Slot, Completion),
}

/// A client of either kind.
#[derive(Debug)]
pub enum Client {}

impl Client {
    /// Takes one input at `now` and appends what follows from it.
    pub fn step(&mut self, _now: Time, _input: Input, _out: &mut Vec<Effect>) {
        match *self {}
    }

    /// When the next `Tick` is due, if nothing else comes before.
    pub fn next_wake(&self) -> Option<Time> {
        match *self {}
    }

    /// Whether the client takes no operation any more: one ended in doubt.
    pub fn is_retired(&self) -> bool {
        match *self {}
    }
}
