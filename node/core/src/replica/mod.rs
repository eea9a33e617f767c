//! One partition's replica on one broker: leader or follower, on batch headers only.
//!
//! Inputs are method calls; what they ask for comes back as [`Output`]s, what they decide as the
//! return value. After a call whose outputs hold `Truncate` or `TruncateFully` the replica serves
//! nothing until [`Replica::truncated`].

mod batch;
mod env;
mod epoch_cache;
mod error;
mod follow;
mod isr;
mod leadership;
mod log_state;
mod lookup;
mod metadata;
mod output;
mod produce;
mod producers;
mod query;
mod serve;
mod validate;

#[cfg(test)]
mod tests;

pub use batch::{BatchMeta, ProducerStamp};
pub use env::{BrokerView, Brokers, Env};
pub use epoch_cache::{EpochCache, EpochEnd};
pub use error::ReplicaError;
pub use follow::FollowerPosition;
pub use isr::IsrRefusal;
pub use log_state::{LoadedLog, LogBounds};
pub use lookup::Replicas;
pub use output::{IsrProposal, Output, Outputs, ReplicaEvent};
pub use produce::{Acks, Appended};
pub use producers::{ProducerEntry, Producers, REMEMBERED_BATCHES, Remembered};
pub use query::Visibility;
pub use serve::{FetchAnswer, FetchQuery, Isolation, Reader};

use crate::rule::Rules;
use crate::types::{BrokerId, LeaderEpoch, Offset, PartitionId, PartitionState};
use follow::Cut;
use leadership::Leadership;
use log_state::LogState;

/// The settings that a replica obeys; all may change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaConfig {
    /// `replica.lag.time.max.ms`.
    pub lag_limit_ms: u64,
    /// `min.insync.replicas` of the topic.
    pub min_isr: usize,
}

/// One partition's replica on one broker.
#[derive(Clone, Debug)]
pub struct Replica {
    partition: PartitionId,
    broker: BrokerId,
    config: ReplicaConfig,
    log: LogState,
    /// The newest committed state; the role follows it, unless a cut is under way.
    state: Option<PartitionState>,
    role: Role,
    /// The cut that the disk has not confirmed.
    cutting: Option<Cut>,
    failed: bool,
}

/// What the replica does now.
#[derive(Clone, Debug)]
enum Role {
    /// No committed state seen as yet.
    Idle,
    /// It assigns offsets.
    Leader(Leadership),
    /// It copies from `leader`, if there is one.
    Follower { leader: Option<BrokerId>, epoch: LeaderEpoch, leader_high_watermark: Offset },
}

impl Replica {
    /// A replica on `broker` over the log that its disk holds; it is idle until
    /// [`Replica::apply_metadata`].
    pub fn new(
        partition: PartitionId,
        broker: BrokerId,
        config: ReplicaConfig,
        rules: &Rules,
        mut log: LoadedLog,
    ) -> Replica {
        log.high_watermark =
            (rules.restored_high_watermark)(log.high_watermark, log.log_start, log.log_end);
        Replica {
            partition,
            broker,
            config,
            log: LogState::new(log),
            state: None,
            role: Role::Idle,
            cutting: None,
            failed: false,
        }
    }

    /// Which partition this is a copy of.
    pub fn partition(&self) -> PartitionId {
        self.partition
    }

    /// The end of what has been given an offset; the disk may not have confirmed all of it.
    #[cfg(test)]
    pub(crate) fn appended_end(&self) -> Offset {
        self.log.appended
    }

    /// The disk could not read or write this log: it is offline from now on.
    pub fn failed(&mut self, out: &mut Outputs) {
        if !self.failed {
            self.failed = true;
            out.push(Output::Event(ReplicaEvent::Failed));
            out.push(Output::StandingChanged);
        }
    }

    /// The leadership, while this replica leads and can serve.
    fn leading(&self) -> Result<&Leadership, ReplicaError> {
        self.usable()?;
        match &self.role {
            Role::Leader(leadership) => Ok(leadership),
            _ => Err(ReplicaError::NotLeaderOrFollower),
        }
    }

    /// An error while the log is being cut or has failed.
    fn usable(&self) -> Result<(), ReplicaError> {
        match () {
            () if self.failed => Err(ReplicaError::KafkaStorageError),
            () if self.cutting.is_some() => Err(ReplicaError::NotLeaderOrFollower),
            () => Ok(()),
        }
    }

    /// min ISR, but never more than there are replicas (rule 17).
    fn effective_min_isr(&self) -> usize {
        let replicas = self.state.as_ref().map_or(1, |s| s.replicas.len());
        self.config.min_isr.min(replicas)
    }
}
