//! One batch of a producer: its identity, where it is, and what its attempts came to.

use bytes::Bytes;
use highwater_history::event::{Attempt, BatchId};
use highwater_log::batch::BatchBuilder;

use crate::{
    Acks, Completion, Key, Outcome, Time,
    client::ClientConfig,
    op::{Gave, code},
    outcome, value,
};

/// Where a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// At the client, not to be sent before.
    Waiting(Time),
    /// With a connection to this broker.
    OnWay(i32),
}

/// A send operation in progress.
#[derive(Debug)]
pub(super) struct Batch {
    pub key: Key,
    pub bytes: Bytes,
    pub id: Option<BatchId>,
    pub state: State,
    /// When to stop trying.
    pub give_up: Time,
    sent_at: Time,
    attempts: Vec<Attempt>,
    outcomes: Vec<Outcome>,
    /// Why it is not done yet.
    last_error: &'static str,
}

impl Batch {
    pub(super) fn new(
        (now, give_up): (Time, Time),
        key: Key,
        values: &[i64],
        id: Option<BatchId>,
        config: &ClientConfig,
    ) -> Batch {
        Batch {
            key,
            bytes: bytes(now, key, values, id, config),
            id,
            state: State::Waiting(now),
            give_up,
            sent_at: now,
            attempts: Vec::new(),
            outcomes: Vec::new(),
            last_error: code::NO_LEADER,
        }
    }

    /// Its bytes were handed over.
    pub(super) fn sent(&mut self, now: Time) {
        debug_assert!(matches!(self.state, State::OnWay(_)), "only a dispatched batch is sent");
        self.sent_at = now;
    }

    /// An attempt ended with this code and outcome.
    pub(super) fn attempted(&mut self, now: Time, code: &'static str, outcome: Outcome) {
        let State::OnWay(node) = self.state else {
            unreachable!("an attempt that ended was on its way");
        };
        let (at, took) = (self.sent_at.as_nanos(), (now - self.sent_at).as_nanos() as u64);
        self.attempts.push(Attempt { node, at, took, code: code.into() });
        self.outcomes.push(outcome);
        self.last_error = code;
    }

    /// Its client is thrown away: whatever became of it, nobody hears.
    pub(super) fn abandoned(&mut self, now: Time) {
        match self.state {
            State::OnWay(_) => self.attempted(now, code::CLIENT_CRASHED, Outcome::Info),
            State::Waiting(_) => self.outcomes.push(Outcome::Info),
        }
        self.last_error = code::CLIENT_CRASHED;
    }

    /// It never left; there is nothing to record.
    pub(super) fn not_sent(&mut self, code: &'static str) {
        if self.attempts.is_empty() {
            self.last_error = code;
        }
    }

    /// Whether no request was made for it yet.
    pub(super) fn is_first(&self) -> bool {
        self.attempts.is_empty()
    }

    /// What the client answered for `code`, by the table of rule 40.
    pub(super) fn judge(&self, code: i16, acks: Acks) -> Outcome {
        outcome::produce(code, acks, self.is_first())
    }

    /// The completion over all attempts.
    pub(super) fn complete(self, base_offset: Option<i64>) -> Completion {
        let outcome = outcome::overall(self.outcomes.iter().copied());
        let node = self.attempts.last().map(|attempt| attempt.node);
        let error = (outcome != Outcome::Ok).then_some(self.last_error);
        let gave = Gave::Sent { base_offset, id: self.id, attempts: self.attempts };
        Completion { outcome, node, error, gave }
    }
}

fn bytes(now: Time, key: Key, values: &[i64], id: Option<BatchId>, config: &ClientConfig) -> Bytes {
    let settings = &config.settings;
    let mut builder = BatchBuilder::new();
    if let Some(id) = id {
        builder = builder.producer(id.producer_id, id.producer_epoch, id.sequence);
    }
    let timestamp = config.unix_zero_ms + (now.as_nanos() / 1_000_000) as i64;
    let key = config.catalog.name(key);
    for value in values {
        let payload = value::encode(&settings.run_id, key, *value, settings.value_size as usize);
        builder.push(timestamp, None, Some(&payload), &[]);
    }
    builder.build()
}
