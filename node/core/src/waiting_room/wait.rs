//! One waiting request: what it waits for, and whether that has come.

use super::Outcome;
use crate::replica::{Acks, Env, FetchAnswer, FetchQuery, ReplicaError, Replicas};
use crate::rule::ack::Ack;
use crate::types::{Offset, PartitionId};

/// What a request waits for.
#[derive(Clone, Debug)]
pub enum Wait {
    /// The decision on each write.
    Produce(Vec<PendingWrite>),
    /// Bytes to read.
    Fetch {
        /// How many, over all partitions.
        min_bytes: u64,
        /// The partitions and what is asked of each.
        queries: Vec<(PartitionId, FetchQuery)>,
    },
}

/// One appended batch of a waiting produce request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    /// Where it was appended.
    pub partition: PartitionId,
    /// The offset of its last record.
    pub last_offset: Offset,
    /// How many copies the producer wants.
    pub acks: Acks,
    /// The decision, once there is one.
    pub decided: Option<Result<(), ReplicaError>>,
}

impl Wait {
    /// The partitions that it depends on.
    pub(super) fn partitions(&self) -> Vec<PartitionId> {
        match self {
            Wait::Produce(writes) => writes.iter().map(|w| w.partition).collect(),
            Wait::Fetch { queries, .. } => queries.iter().map(|(id, _)| *id).collect(),
        }
    }

    /// How it ends, if it can end now; `changed` is the only partition that moved, when known.
    pub(super) fn check(
        &mut self,
        env: &Env,
        replicas: &dyn Replicas,
        changed: Option<PartitionId>,
    ) -> Option<Outcome> {
        match self {
            Wait::Produce(writes) => {
                let concerned = |w: &&mut PendingWrite| {
                    w.decided.is_none() && changed.is_none_or(|id| id == w.partition)
                };
                writes.iter_mut().filter(concerned).for_each(|w| w.decide(env, replicas));
                let decided: Option<Vec<_>> = writes.iter().map(|w| w.decided).collect();
                decided.map(Outcome::Produce)
            }
            Wait::Fetch { min_bytes, queries } => {
                let readable = readable_bytes(env, replicas, queries);
                readable.is_none_or(|bytes| bytes >= *min_bytes).then_some(Outcome::Fetch)
            }
        }
    }

    /// How it ends when its time is over.
    pub(super) fn at_deadline(&self) -> Outcome {
        match self {
            Wait::Fetch { .. } => Outcome::Fetch,
            Wait::Produce(writes) => {
                let late = Err(ReplicaError::RequestTimedOut);
                Outcome::Produce(writes.iter().map(|w| w.decided.unwrap_or(late)).collect())
            }
        }
    }
}

impl PendingWrite {
    fn decide(&mut self, env: &Env, replicas: &dyn Replicas) {
        self.decided = match replicas.replica(self.partition) {
            None => Some(Err(ReplicaError::UnknownTopicOrPartition)),
            Some(replica) => match replica.acknowledges(env, self.acks, self.last_offset) {
                Ack::Wait => None,
                Ack::Answer(answer) => Some(answer),
            },
        };
    }
}

/// Bytes readable over all partitions; `None` when one has something else to tell: an error or
/// a divergence.
fn readable_bytes(
    env: &Env,
    replicas: &dyn Replicas,
    queries: &[(PartitionId, FetchQuery)],
) -> Option<u64> {
    let mut total = 0_u64;
    for (partition, query) in queries {
        match replicas.replica(*partition)?.readable(env, query) {
            Ok(FetchAnswer::Readable { bytes, .. }) => total += bytes,
            Ok(FetchAnswer::Diverging { .. }) | Err(_) => return None,
        }
    }
    Some(total)
}
