//! Kafka clients without I/O: operations, frames and ticks in; frames and completions out.

mod cluster;
mod consumer;
mod fetch;
mod links;
pub mod log_start;
mod metadata;
mod positions;
mod producer;
pub mod records;
mod session;
#[cfg(test)]
mod tests;
mod versions;

use std::sync::Arc;

use bytes::Bytes;
pub use cluster::Leader;
pub use consumer::Consumer;
use highwater_history::event::Acks;
pub use producer::Producer;

use crate::{Catalog, Completion, Op, Settings, Time};

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
    /// Do this; the slot must be free and the client open and not retired.
    Operate(Slot, Op),
    /// The connection stands.
    Connected(Conn),
    /// The first so many requests handed over on the connection are with the kernel.
    Written(Conn, u64),
    /// A whole response, without its length prefix.
    Frame(Conn, Bytes),
    /// The connection could not be made, or is gone.
    Closed(Conn),
    /// The moment named by [`Client::next_wake`] has come.
    Tick,
}

/// What a client wants done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Dial; answered by `Connected` or `Closed`.
    Connect(Conn, Address),
    /// Write a whole request, without its length prefix.
    Send(Conn, Bytes),
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

/// What a client is made with.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Stands in every request header; shows in brokers' logs and at the proxies.
    pub client_id: String,
    /// Brokers to ask first, the favourite in front.
    pub bootstrap: Vec<Address>,
    /// The keys of the run.
    pub catalog: Arc<Catalog>,
    /// The settings of the run.
    pub settings: Arc<Settings>,
    /// The wall clock at the run's zero, in Unix milliseconds: what record timestamps count from.
    pub unix_zero_ms: i64,
}

/// A client of either kind.
#[derive(Debug)]
pub enum Client {
    /// Sends.
    Producer(Box<Producer>),
    /// Polls.
    Consumer(Box<Consumer>),
}

impl Client {
    /// A producer at this acks level.
    pub fn producer(config: ClientConfig, acks: Acks) -> Client {
        Client::Producer(Box::new(Producer::new(config, acks)))
    }

    /// A consumer without an assignment.
    pub fn consumer(config: ClientConfig) -> Client {
        Client::Consumer(Box::new(Consumer::new(config)))
    }

    /// Takes one input at `now` and appends what follows from it.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        match self {
            Client::Producer(producer) => producer.step(now, input, out),
            Client::Consumer(consumer) => consumer.step(now, input, out),
        }
    }

    /// Drops the client as a process that is killed does: its operations end in doubt, its
    /// connections end, it takes no input any more.
    pub fn crash(&mut self, now: Time, out: &mut Vec<Effect>) {
        match self {
            Client::Producer(producer) => producer.crash(now, out),
            Client::Consumer(consumer) => consumer.crash(out),
        }
    }

    /// When the next `Tick` is due, if nothing else comes before.
    pub fn next_wake(&self) -> Option<Time> {
        match self {
            Client::Producer(producer) => producer.next_wake(),
            Client::Consumer(consumer) => consumer.next_wake(),
        }
    }

    /// Whether the client takes no operation any more: one of its operations ended in doubt, or it
    /// crashed.
    pub fn is_retired(&self) -> bool {
        match self {
            Client::Producer(producer) => producer.is_retired(),
            Client::Consumer(consumer) => consumer.is_retired(),
        }
    }
}
