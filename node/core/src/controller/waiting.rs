//! Replies that wait until everything they were decided on is committed (rule 74).

use std::collections::VecDeque;

use super::machine::{Output, Token};
use super::reply::Reply;
use crate::types::Offset;

/// Replies in the order of their decisions, each with the end of the log at its decision.
#[derive(Debug)]
pub(super) struct Waiting {
    committed: Offset,
    replies: VecDeque<(Offset, Token, Reply)>,
}

impl Waiting {
    /// Nobody waits; everything below `end` is committed.
    pub(super) fn committed(end: Offset) -> Waiting {
        Waiting { committed: end, replies: VecDeque::new() }
    }

    /// A reply that was decided when the log ended at `end`.
    pub(super) fn push(&mut self, end: Offset, token: Token, reply: Reply) {
        self.replies.push_back((end, token, reply));
    }

    /// Everything below `end` is committed.
    pub(super) fn commit(&mut self, end: Offset) {
        self.committed = self.committed.max(end);
    }

    /// Lets the replies go that wait no longer.
    pub(super) fn release(&mut self, out: &mut Vec<Output>) {
        while self.replies.front().is_some_and(|(end, ..)| *end <= self.committed) {
            let (_, token, reply) = self.replies.pop_front().expect("a front was seen");
            out.push(Output::Reply { token, reply });
        }
    }

    /// Checks the invariants against the log's end.
    pub(super) fn validate(&self, log_end: Offset) {
        let ends = || self.replies.iter().map(|(end, ..)| *end);
        assert!(ends().is_sorted(), "replies wait in the order of their decisions");
        assert!(ends().all(|end| end > self.committed), "a reply waits for what is committed");
        assert!(ends().all(|end| end <= log_end), "a reply waits for what is not written");
        assert!(self.committed <= log_end, "more is committed than written");
    }
}
