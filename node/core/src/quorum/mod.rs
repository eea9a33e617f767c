//! The metadata quorum: who may append to the metadata log and what is committed (KIP-595).
//!
//! Pull based: voters and observers fetch from the leader, and what a majority of voters has synced
//! is committed. Elections between several voters are not part of it yet: a voter that is a
//! majority on its own elects itself, any other waits.

mod fetch;
mod observer;
mod state;
mod voter;

pub use fetch::{FetchAnswer, Member, MetadataFetch};
pub use observer::{BatchSpan, Observer, ObserverError};
pub use state::{QuorumState, Voters};
pub use voter::{Quorum, QuorumInput, QuorumOutput};

#[cfg(test)]
mod tests;
