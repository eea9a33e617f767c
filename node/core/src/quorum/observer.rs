//! The broker's side of the quorum: follows the metadata log and knows what of it is committed.

use crate::types::{BrokerId, LeaderEpoch, Offset};

/// A follower of the metadata log that does not vote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observer {
    /// The newest epoch that it heard of.
    pub epoch: LeaderEpoch,
    /// The leader of that epoch, if known.
    pub leader: Option<BrokerId>,
    /// The end of its own log.
    pub log_end: Offset,
    /// What it knows to be committed.
    pub high_watermark: Offset,
}
