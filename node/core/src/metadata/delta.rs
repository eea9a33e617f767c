//! What a run of records changed in the image, so that a broker looks at nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Resource;
use crate::types::{BrokerId, PartitionId, TopicId};

/// The parts of the image that changed since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Partitions that came to be or changed.
    pub partitions: BTreeSet<PartitionId>,
    /// Topics that are gone, with their names.
    pub removed_topics: BTreeMap<TopicId, String>,
    /// Brokers that registered, changed or left.
    pub brokers: BTreeSet<BrokerId>,
    /// Resources with a configuration that was set or removed.
    pub configs: BTreeSet<Resource>,
}
