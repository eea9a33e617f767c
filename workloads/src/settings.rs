//! The settings of a workload, and the sentences that refuse bad ones.

use std::time::Duration;

pub use highwater_history::event::Isolation;
use serde::{Deserialize, Serialize};

use crate::Acks;

/// The acks levels of a run's producers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AcksMode {
    /// One topic a level; half of the sends are acks=all, the rest is shared by 1 and 0.
    Mix,
    /// One level for all.
    #[serde(untagged)]
    Only(Acks),
}

impl AcksMode {
    /// The levels in use, the strongest first.
    pub fn levels(self) -> Vec<Acks> {
        match self {
            AcksMode::Only(acks) => vec![acks],
            AcksMode::Mix => vec![Acks::All, Acks::One, Acks::Zero],
        }
    }
}

/// Time-outs of a client, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTimeouts {
    /// How long a broker may hold a Produce request (its `timeout_ms`).
    pub request_ms: u64,
    /// How long the client waits beyond that before it calls an attempt lost.
    pub slack_ms: u64,
    /// How long repeats of one batch may go on.
    pub delivery_ms: u64,
    /// How long a Fetch may wait for data.
    pub poll_wait_ms: u64,
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        ClientTimeouts { request_ms: 3_000, slack_ms: 500, delivery_ms: 8_000, poll_wait_ms: 50 }
    }
}

impl ClientTimeouts {
    /// How long one attempt may last at the client.
    pub fn attempt(&self) -> Duration {
        Duration::from_millis(self.request_ms + self.slack_ms)
    }

    /// How long all attempts of one batch may last.
    pub fn delivery(&self) -> Duration {
        Duration::from_millis(self.delivery_ms)
    }
}

/// Everything a workload and its clients are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The run's id; stands in every payload.
    pub run_id: String,
    /// Acks levels.
    pub acks: AcksMode,
    /// Whether acks=all producers are idempotent.
    pub idempotence: bool,
    /// Whether producers without idempotence repeat a batch, too.
    pub retries: bool,
    /// Concurrent producer clients.
    pub producers: u32,
    /// Concurrent consumer clients.
    pub consumers: u32,
    /// Operations that one producer client may have in flight.
    pub in_flight: u32,
    /// Topics; under `mix` they take the levels in turn.
    pub topics: u32,
    /// Partitions a topic.
    pub partitions: u32,
    /// Sends a second over all producers; 0: as many as fit.
    pub rate: u32,
    /// Polls a second of one consumer; 0: as many as fit.
    pub poll_rate: u32,
    /// Least size of a payload in bytes; it is padded to this.
    pub value_size: u32,
    /// What consumers are given.
    pub isolation: Isolation,
    /// Time-outs.
    pub timeouts: ClientTimeouts,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            run_id: "run".into(),
            acks: AcksMode::Mix,
            idempotence: true,
            retries: false,
            producers: 8,
            consumers: 3,
            in_flight: 5,
            topics: 3,
            partitions: 2,
            rate: 1_000,
            poll_rate: 20,
            value_size: 0,
            isolation: Isolation::ReadCommitted,
            timeouts: ClientTimeouts::default(),
        }
    }
}

/// Largest padded payload: a batch of a few must stay under the brokers' default limit of 1 MiB.
const MAX_VALUE_SIZE: u32 = 256 * 1024;

/// Most clients of a kind: each has connections and buffers of its own.
const MAX_CLIENTS: u32 = 10_000;
/// Most partitions over all topics.
const MAX_PARTITIONS: u32 = 1_000;

/// Why settings are refused; the text is one sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option}: {problem}")]
pub struct BadSetting {
    /// The option as the user writes it.
    pub option: &'static str,
    /// What is wrong and what to do.
    pub problem: String,
}

impl Settings {
    /// Refuses settings under which the workload could not do its work.
    pub fn validate(&self) -> Result<(), BadSetting> {
        let bad = |option, problem: String| Err(BadSetting { option, problem });
        let levels = self.acks.levels().len() as u32;
        for (option, clients) in [("--producers", self.producers), ("--consumers", self.consumers)]
        {
            if clients > MAX_CLIENTS {
                return bad(option, format!("at most {MAX_CLIENTS} clients fit"));
            }
        }
        if self.producers < levels {
            return bad("--producers", format!("needs at least {levels}, one an acks level"));
        }
        if self.topics < levels {
            return bad("--topics", format!("needs at least {levels}, one an acks level"));
        }
        if self.partitions == 0 || self.topics.saturating_mul(self.partitions) > MAX_PARTITIONS {
            return bad("--partitions", "1 to 1000 partitions over all topics fit".into());
        }
        if self.in_flight == 0 || self.in_flight > 5 {
            return bad("in_flight", "a broker remembers five batches: 1 to 5 fit".into());
        }
        if self.value_size > MAX_VALUE_SIZE {
            return bad("--value-size", format!("at most {MAX_VALUE_SIZE} bytes fit"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn numbers_that_do_not_fit_are_refused_by_their_option() {
        let refusal = |settings: Settings| settings.validate().unwrap_err().option;
        let default = Settings::default;
        assert_eq!(refusal(Settings { producers: 10_001, ..default() }), "--producers");
        assert_eq!(refusal(Settings { consumers: 10_001, ..default() }), "--consumers");
        let settings = Settings { topics: 70_000, partitions: 70_000, ..default() };
        assert_eq!(refusal(settings), "--partitions", "the product has more than 32 bits");
    }
}
