//! Client operations: who, when, and how they ended.

use std::num::NonZeroU64;

use highwater_history::{NodeId, TimeNs};

use super::gently;

/// An operation's number, in the order of invocations.
pub type OpId = u32;

/// Stands for no operation.
pub const NO_OP: OpId = OpId::MAX;

/// How an operation, or one record of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It did not and will not.
    Fail,
    /// Unknown, also when no completion is there.
    Info,
}

/// What is known of an operation's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// Nothing.
    Untold,
    /// Exactly one.
    One,
    /// Several, or the client hides them.
    Many,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Position of its process in the index of processes.
    pub process: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether an ok poll returned one of the records that it sent.
    pub some_ok_read: bool,
    /// Whether it is a transaction.
    pub transaction: bool,
    /// What is known of its requests.
    pub requests: Requests,
    /// The broker that answered.
    pub node: Option<NodeId>,
    /// Index of the invocation.
    pub invoked: u64,
    /// Index of the completion, which is above that of the invocation.
    pub completed: Option<NonZeroU64>,
    /// When it was invoked.
    pub invoked_at: TimeNs,
    /// When the request left that was answered; its invocation where the attempts do not tell.
    pub sent_at: TimeNs,
    /// When it completed; the end of time when it did not.
    pub completed_at: TimeNs,
}

impl Operation {
    /// Index of the completion.
    pub fn completion(&self) -> Option<u64> {
        self.completed.map(NonZeroU64::get)
    }

    /// Indexes of its events.
    pub fn events(&self) -> Vec<u64> {
        std::iter::once(self.invoked).chain(self.completion()).collect()
    }
}

/// All operations.
#[derive(Debug, Default)]
pub struct Operations {
    all: Vec<Operation>,
}

impl Operations {
    /// Adds an operation at its invocation.
    pub fn begin(&mut self, operation: Operation) -> OpId {
        gently::push(&mut self.all, operation);
        OpId::try_from(self.all.len() - 1).expect("fewer than 2^32 operations")
    }

    /// The operation of a number.
    pub fn get(&self, op: OpId) -> &Operation {
        &self.all[op as usize]
    }

    /// The operation of a number, to change.
    pub fn get_mut(&mut self, op: OpId) -> &mut Operation {
        &mut self.all[op as usize]
    }

    /// Gives back what was taken for operations that did not come.
    pub fn shrink(&mut self) {
        self.all.shrink_to_fit();
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Operation> {
        self.all.iter()
    }
}
