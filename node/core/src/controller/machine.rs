//! The controller's step: one input, its records and replies.

use super::config::{ConfigRules, Settings};
use super::reply::Reply;
use super::request::Request;
use crate::metadata::{Image, Record};
use crate::types::{Offset, Time};

/// Names a request until its reply; the caller chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// What the controller is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Someone asks for something.
    Request {
        /// The request's name.
        token: Token,
        /// What is asked.
        request: Request,
    },
    /// Everything below this offset is committed.
    Committed(Offset),
    /// The time of [`Controller::next_wake`] has come.
    Tick,
}

/// What the controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Append these records as one atomic batch at this offset, synced.
    Append {
        /// The offset of the first record; the end of the log so far.
        base: Offset,
        /// The records.
        records: Vec<Record>,
    },
    /// Answer a request.
    Reply {
        /// The request's name.
        token: Token,
        /// The answer.
        reply: Reply,
    },
}

/// The active controller of one epoch.
pub struct Controller {
    settings: Settings,
    rules: Box<dyn ConfigRules + Send>,
    image: Image,
}

impl Controller {
    /// A controller that takes office: `image` is the replay of the whole log, whose end is
    /// `image.end`. Live brokers get a whole session from `now` on.
    pub fn activate(
        now: Time,
        settings: Settings,
        rules: Box<dyn ConfigRules + Send>,
        image: Image,
    ) -> Controller {
        let _ = now;
        Controller { settings, rules, image }
    }

    /// Takes one input; what is wanted is added to `out` in order.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Output>) {
        let _ = (now, input, out, &self.settings, &self.rules);
    }

    /// When [`Input::Tick`] is wanted next.
    pub fn next_wake(&self) -> Option<Time> {
        None
    }

    /// The image with everything that was decided, committed or not.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Checks the whole state; panics with the invariant that does not hold.
    pub fn validate(&self) {}
}
