//! The pure state machines of replication and of the controller: inputs in, outputs out, no I/O.

pub mod controller;
pub mod error;
pub mod fetcher;
pub mod metadata;
pub mod mutant;
pub mod quorum;
pub mod replica;
pub mod rule;
#[cfg(test)]
mod script;
pub mod types;
pub mod waiting_room;
