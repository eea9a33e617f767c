//! The metadata quorum: who may append to the metadata log and what is committed (KIP-595).
//!
//! Pull based: voters and observers fetch from the leader, and what a majority of voters has synced
//! is committed. Elections between several voters are not part of it yet: a voter that is alone
//! elects itself.

pub mod leader;
pub mod observer;
pub mod state;
