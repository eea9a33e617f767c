//! Client operations: who, when, and how they ended.

use std::{collections::BTreeSet, num::NonZeroU64};

use highwater_history::{NodeId, TimeNs};

use super::gently;
use crate::part::Part;

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

/// All operations; in a part of a history those that touch its keys, and of the others how many
/// there were.
#[derive(Debug, Default)]
pub struct Operations {
    kept: Vec<Operation>,
    /// Of each again who it was, close together: for those who go through all reads of a key.
    briefs: Vec<Brief>,
    /// Where each is kept, once some may be forgotten; until then each is at its number.
    places: Option<Places>,
    /// How those that were forgotten ended.
    forgotten: Ended,
    transactions: bool,
}

/// How many operations ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Ok.
    pub ok: u64,
    /// Fail.
    pub fail: u64,
    /// Info, or not at all.
    pub info: u64,
}

impl Ended {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::Fail => self.fail += 1,
            Outcome::Info => self.info += 1,
        }
    }
}

#[derive(Debug, Default)]
struct Places {
    of: Vec<u32>,
    free: Vec<u32>,
}

/// The process of an operation, and in the highest bit whether it ended ok.
#[derive(Clone, Copy, Debug)]
struct Brief(u32);

impl Brief {
    const OK: u32 = 1 << 31;

    fn of(process: u32, outcome: Outcome) -> Self {
        assert!(process < Self::OK, "fewer than 2^31 processes");
        Self(if outcome == Outcome::Ok { process | Self::OK } else { process })
    }
}

/// The place of an operation that was forgotten.
const NOWHERE: u32 = u32::MAX;

impl Operations {
    /// No operations; those of a part may be forgotten.
    pub fn of_part(part: Part) -> Self {
        let places = (part != Part::WHOLE).then(Places::default);
        Self { places, ..Self::default() }
    }

    /// Adds an operation at its invocation.
    pub fn begin(&mut self, operation: Operation) -> OpId {
        self.transactions |= operation.transaction;
        let brief = Brief::of(operation.process, operation.outcome);
        let free = self.places.as_mut().and_then(|places| places.free.pop());
        let place = if let Some(place) = free {
            self.kept[place as usize] = operation;
            self.briefs[place as usize] = brief;
            place
        } else {
            gently::push(&mut self.kept, operation);
            gently::push(&mut self.briefs, brief);
            Self::number(self.kept.len() - 1)
        };
        let Some(places) = &mut self.places else { return place };
        gently::push(&mut places.of, place);
        Self::number(places.of.len() - 1)
    }

    fn number(at: usize) -> u32 {
        u32::try_from(at).ok().filter(|at| *at < NOWHERE).expect("fewer than 2^32 operations")
    }

    /// Forgets an operation that nothing asks for, where operations may be forgotten.
    pub(super) fn forget(&mut self, op: OpId) {
        let Some(places) = &mut self.places else { return };
        let place = std::mem::replace(&mut places.of[op as usize], NOWHERE);
        self.forgotten.count(self.kept[place as usize].outcome);
        places.free.push(place);
    }

    fn place(&self, op: OpId) -> usize {
        self.places.as_ref().map_or(op, |places| places.of[op as usize]) as usize
    }

    /// The operation of a number.
    pub fn get(&self, op: OpId) -> &Operation {
        &self.kept[self.place(op)]
    }

    /// The operation of a number, to change.
    pub fn get_mut(&mut self, op: OpId) -> &mut Operation {
        let place = self.place(op);
        &mut self.kept[place]
    }

    /// Notes how an operation ended; the rest of it is to be changed.
    pub fn complete(&mut self, op: OpId, outcome: Outcome) -> &mut Operation {
        let place = self.place(op);
        let operation = &mut self.kept[place];
        operation.outcome = outcome;
        self.briefs[place] = Brief::of(operation.process, outcome);
        operation
    }

    /// The position of an operation's process in the index of processes.
    pub fn process(&self, op: OpId) -> u32 {
        self.briefs[self.place(op)].0 & !Brief::OK
    }

    /// Whether an operation ended ok.
    pub fn is_ok(&self, op: OpId) -> bool {
        self.briefs[self.place(op)].0 & Brief::OK != 0
    }

    /// Gives back what was taken for operations that did not come.
    pub fn shrink(&mut self) {
        self.kept.shrink_to_fit();
        self.briefs.shrink_to_fit();
    }

    /// Whether any is a transaction.
    pub fn has_transactions(&self) -> bool {
        self.transactions
    }

    /// How they ended, also those that were forgotten.
    pub fn ended(&self) -> Ended {
        let mut ended = self.forgotten;
        let free: BTreeSet<u32> = self.places.iter().flat_map(|of| &of.free).copied().collect();
        let kept = self.kept.iter().zip(0..).filter(|(_, place)| !free.contains(place));
        kept.for_each(|(operation, _)| ended.count(operation.outcome));
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(process: u32, outcome: Outcome) -> Operation {
        Operation {
            process,
            outcome,
            some_ok_read: false,
            transaction: false,
            requests: Requests::Untold,
            node: None,
            invoked: 0,
            completed: None,
            invoked_at: 0,
            sent_at: 0,
            completed_at: 0,
        }
    }

    fn five(part: Part) -> Operations {
        let mut ops = Operations::of_part(part);
        for nth in 0..3 {
            assert_eq!(ops.begin(operation(nth, Outcome::Ok)), nth);
        }
        ops.forget(1);
        assert_eq!(ops.begin(operation(3, Outcome::Fail)), 3);
        assert_eq!(ops.begin(operation(4, Outcome::Info)), 4);
        ops.forget(3);
        ops
    }

    #[test]
    fn what_is_forgotten_leaves_its_place_and_is_counted() {
        let part = five(Part::new(0, 2).unwrap());
        assert_eq!([0, 2, 4].map(|op| part.process(op)), [0, 2, 4]);
        assert_eq!([0, 2, 4].map(|op| part.is_ok(op)), [true, true, false]);
        assert_eq!(part.kept.len(), 4);
        assert_eq!(part.ended(), Ended { ok: 3, fail: 1, info: 1 });
    }

    #[test]
    fn nothing_is_forgotten_of_a_whole_history() {
        let whole = five(Part::WHOLE);
        assert_eq!([0, 1, 2, 3, 4].map(|op| whole.get(op).process), [0, 1, 2, 3, 4]);
        assert_eq!(whole.ended(), Ended { ok: 3, fail: 1, info: 1 });
    }
}
