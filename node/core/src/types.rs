//! The vocabulary of the core: time, identities, epochs and offsets, each with its unit in its
//! type.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

number!(
    /// Nanoseconds since the start of the run, on one monotonic clock that the shell owns.
    Time,
    u64
);
number!(
    /// A position in one partition's log.
    Offset,
    i64
);
number!(
    /// The number of a leadership of one partition; rises with every leader change (rule 25).
    LeaderEpoch,
    i32
);
number!(
    /// The version of a partition's committed state; rises with every change (rule 25).
    PartitionEpoch,
    i32
);
number!(
    /// `node.id` of a broker or controller.
    BrokerId,
    i32
);
number!(
    /// One incarnation of a broker: the metadata offset of its registration.
    BrokerEpoch,
    i64
);
number!(
    /// A producer's identity; unique for the cluster's life (rule 46).
    ProducerId,
    i64
);
number!(
    /// The version of a producer id; lower ones are fenced (rule 41).
    ProducerEpoch,
    i16
);

/// A topic's identity; names are reused, ids are not (rule 76).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub u128);

/// One partition of one topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// The topic's identity.
    pub topic: TopicId,
    /// The partition's index within the topic, from 0.
    pub index: i32,
}

/// What the committed metadata says of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionState {
    /// Assigned replicas in assignment order; the first is the preferred leader.
    pub replicas: Vec<BrokerId>,
    /// The committed in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// The leader, if there is one.
    pub leader: Option<BrokerId>,
    /// The epoch of this leadership.
    pub leader_epoch: LeaderEpoch,
    /// The version of this state.
    pub partition_epoch: PartitionEpoch,
    /// True after an unclean election until the leader has recovered (rule 28).
    pub recovering: bool,
}

impl Time {
    /// The time `millis` milliseconds later.
    pub fn plus_ms(self, millis: u64) -> Time {
        Time(self.0.saturating_add(millis.saturating_mul(1_000_000)))
    }

    /// Nanoseconds from `earlier` to this time, 0 if it is not earlier.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Offset {
    /// The offset after this one.
    pub fn next(self) -> Offset {
        Offset(self.0 + 1)
    }
}
