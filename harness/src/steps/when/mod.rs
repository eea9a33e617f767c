//! Conditions of a schedule: a small language over what is observed.
//!
//! ```text
//! condition  = clause { "and" clause }
//! clause     = "after" SPAN | "after" NUMBER "sends" | "healed" | "full" | expr OP expr
//! OP         = == | != | < | <= | > | >= | "in" | "not in"
//! expr       = term [ ("+" | "-") NUMBER ]
//! term       = NUMBER | "none" | "before" | $NAME | "[" expr, ... "]" | FUNCTION(KEY [, expr])
//! FUNCTION   = leader | leader_epoch | isr | isr_size | hw | leo | behind | follower
//! ```
//!
//! `full`: every partition has a leader and all its replicas in sync. A KEY is a topic's label and
//! a partition, `all-0`. `before` is the left side's value when the step began to wait. Node sets
//! compare as sets. What was not observed compares as nothing: every comparison with it is false,
//! but for `== none` and `!= none`.

mod eval;
mod parse;
#[cfg(test)]
mod tests;

pub use eval::{Known, Scene};
use serde::{Deserialize, Serialize};

use crate::steps::Span;

/// A condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// As it was written.
    pub text: String,
    pub(super) clauses: Vec<Clause>,
}

/// What is observed, under a name: an expression of the same language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expr {
    text: String,
    pub(super) term: Term,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Clause {
    After(Span),
    AfterSends(u64),
    Healed,
    /// Every partition has a leader and all its replicas in sync.
    Full,
    Compare(Term, Op, Term),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    NotIn,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Number(i64),
    None,
    Before,
    Name(String),
    List(Vec<Term>),
    Call(Function, String, Option<Box<Term>>),
    Plus(Box<Term>, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// The leader's node id.
    Leader,
    LeaderEpoch,
    Isr,
    IsrSize,
    /// The high watermark that the leader says.
    Hw,
    /// The log end offset of the leader, or of the node given.
    Leo,
    /// How far the node given is behind the leader, in records.
    Behind,
    /// An in-sync follower: the one with the lowest id.
    Follower,
}

impl Condition {
    /// The longest time that must have passed for it to be true.
    #[must_use]
    pub fn after(&self) -> Option<Span> {
        let after = |clause: &Clause| match clause {
            Clause::After(span) => Some(*span),
            _ => None,
        };
        self.clauses.iter().filter_map(after).max()
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse::condition(&text).map(|clauses| Condition { text, clauses })
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> String {
        condition.text
    }
}

impl TryFrom<String> for Expr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse::expr(&text).map(|term| Expr { text, term })
    }
}

impl From<Expr> for String {
    fn from(expr: Expr) -> String {
        expr.text
    }
}
