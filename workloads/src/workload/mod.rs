//! Workloads, one file each: which topics, which clients, which operation next.

use crate::{Catalog, Completion, Op, Settings, Time, topic::TopicPlan};

include!(concat!(env!("OUT_DIR"), "/workload_table.rs"));

/// A place for one client at a time: when its client ends in doubt, a new client takes it.
///
/// Also the index that makes values dense: value = counter x producing seats + this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(pub u32);

/// What the clients of a seat are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// They send, at this acks level.
    Producer(crate::Acks),
    /// They poll.
    Consumer,
}

/// Something that must have happened at least so often, or the run proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// What is counted, in the words of the verdict's `coverage`.
    pub name: &'static str,
    /// The least count.
    pub wanted: u64,
}

/// A workload: one file of this folder.
pub struct Entry {
    /// Claims that should hold, by the names of the checker's files.
    pub claims: &'static [&'static str],
    /// Floors for a run with these settings.
    pub floors: fn(&Settings) -> Vec<Floor>,
    /// Topics that must exist before the first operation.
    pub topics: fn(&Settings) -> Vec<TopicPlan>,
    /// One role a seat; producers come first.
    pub seats: fn(&Settings) -> Vec<Role>,
    /// Makes the generator, a pure function of the seed and of what it is asked.
    pub generator: fn(&Settings, &Catalog, u64) -> Box<dyn Generator>,
}

/// Chooses what each seat does next.
pub trait Generator: Send {
    /// The next operation of a seat and when it is to start.
    ///
    /// The n-th answer for a producing seat depends on seed and seat alone, never on the clock, so
    /// the same seed gives the same sends and values.
    fn next(&mut self, seat: Seat) -> Planned;

    /// The client of `seat` completed an operation; what a poll met may change what comes next.
    fn observe(&mut self, seat: Seat, completion: &Completion);

    /// A client of `seat` ended and a new one without memory takes its place.
    fn reset(&mut self, seat: Seat);
}

/// An operation and when it should start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// When, counted from the fleet's start.
    pub start: Start,
    /// What to do.
    pub op: Op,
}

/// When an operation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Load comes from outside at this moment: an operation that starts later is late, and its
    /// latency says so.
    At(Time),
    /// It follows the operation before it, not before this moment, and so is never late.
    NotBefore(Time),
}

impl Start {
    /// The earliest moment.
    pub fn time(self) -> Time {
        match self {
            Start::At(time) | Start::NotBefore(time) => time,
        }
    }
}

/// The workload of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|(known, _, _)| *known == name).map(|(_, _, entry)| *entry)
}
