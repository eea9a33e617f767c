//! History events: what clients asked and got, what the nemesis did, who the clients are.
//!
//! One event is one line of `history.jsonl`. Shapes of micro-operations are those of Jepsen's Kafka
//! workload. Unknown fields are kept in [`Event::extra`] and written back.

mod detail;
mod micro_op;
mod open;
mod read;
pub(crate) mod value;
mod write;

#[cfg(test)]
mod tests;

use serde_json::Map;
use smol_str::SmolStr;

pub use detail::{
    Attempt, Attempts, BatchId, EpochRun, EventError, PayloadError, PayloadFault, Rebalance,
};
pub use micro_op::{Ack, MicroOp, ReadRecord};
pub use open::{Acks, ClientKind, Isolation, OpenClient, OpenTopic};
pub use value::EventValue;

use crate::types::{Key, NodeId, ProcessId, TimeNs};

/// The function of an event of the harness whose value is a sentence for the verdict's notes: what
/// whoever wrote the history knows of its gaps.
pub const NOTE: &str = "note";

/// One line of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the history; the recorder assigns it.
    pub index: u64,
    /// When it happened, nanoseconds since the run's start.
    pub time: TimeNs,
    /// Who did it.
    pub process: Process,
    /// Invocation or kind of completion.
    pub kind: EventKind,
    /// What was done.
    pub f: Function,
    /// What it was done with, shaped by `f`.
    pub value: EventValue,
    /// The broker that answered.
    pub node: Option<NodeId>,
    /// Why a fail or info ended so.
    pub error: Option<EventError>,
    /// One entry a micro-operation when their outcomes differ; `None` entries went as `kind` says.
    pub errors: Option<Vec<Option<EventError>>>,
    /// The requests that a completion is the sum of.
    pub attempts: Option<Attempts>,
    /// The batch identity of a send.
    pub id: Option<BatchId>,
    /// Leader epochs of what a poll read: runs per key, in offset order.
    pub leader_epochs: Option<Vec<(Key, Vec<EpochRun>)>>,
    /// Records that a poll got but whose payload was not theirs; they do not stand in `value`.
    pub payload_errors: Option<Vec<PayloadError>>,
    /// Keys that changed hands while the operation ran.
    pub rebalance_log: Option<Vec<Rebalance>>,
    /// Whether an assign or subscribe also went back to the beginning.
    pub seek_to_beginning: bool,
    /// When an invocation should have started; latency counts from here.
    pub intended: Option<TimeNs>,
    /// Fields that this version does not know, in the order read.
    pub extra: Map<String, serde_json::Value>,
}

impl Event {
    /// An event with the fields that every event has; the index is left to the recorder.
    pub fn new(time: TimeNs, process: Process, kind: EventKind, f: Function) -> Self {
        Self {
            index: 0,
            time,
            process,
            kind,
            f,
            value: EventValue::None,
            node: None,
            error: None,
            errors: None,
            attempts: None,
            id: None,
            leader_epochs: None,
            payload_errors: None,
            rebalance_log: None,
            seek_to_beginning: false,
            intended: None,
            extra: Map::new(),
        }
    }

    /// The same event with a value.
    pub fn with_value(mut self, value: EventValue) -> Self {
        self.value = value;
        self
    }
}

/// Who an event belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    /// A client process; only these have operations.
    Client(ProcessId),
    /// What injects faults.
    Nemesis,
    /// Says what clients and keys are.
    Harness,
    /// Anything else that somebody's history names.
    Other(SmolStr),
}

/// Invocation or kind of completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The operation begins; written before a byte of it leaves.
    Invoke,
    /// It happened.
    Ok,
    /// It did not happen, and never will.
    Fail,
    /// Unknown: it may have happened, may still happen, or never.
    Info,
}

/// What an event does, its `f`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// Send records.
    Send,
    /// Read records.
    Poll,
    /// Sends and polls in one transaction.
    Txn,
    /// Take exactly these keys.
    Assign,
    /// Take these keys through a group.
    Subscribe,
    /// Commit a group's offsets.
    Commit,
    /// Ask which offsets a group has committed.
    Committed,
    /// Ask where logs end for a reader: the high watermark, or at read_committed what is stable.
    EndOffsets,
    /// Throw the client away.
    Crash,
    /// A client session opens.
    Open,
    /// A key and what it stands for.
    OpenTopic,
    /// Faults, and functions that this version does not know.
    Other(SmolStr),
}
