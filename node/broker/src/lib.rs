//! A whole broker or controller without I/O: inputs in, effects out.
//!
//! [`Node::step`] is all that a shell calls. Inside, `kernel` owns time, effects, timers, disk
//! commands, connections and channels; `api` has one file for each Kafka API; `broker` and
//! `controller` are the two roles.

mod alter_partition;
pub mod api;
pub mod broker;
pub mod channel;
pub mod config;
pub mod connection;
pub mod controller;
pub mod effect;
pub mod event;
pub mod features;
mod fetch;
mod fetchers;
mod forward;
mod gather;
mod group;
pub mod kernel;
mod leader_hint;
pub mod metadata_follower;
mod metadata_log;
pub mod node;
mod once;
mod producer_ids;
pub mod replicas;
pub mod reply;
pub mod startup;
#[cfg(test)]
mod testing;
pub mod timers;

/// The crates below, for the shell that drives a node: it depends on nothing else of ours.
pub use {highwater_log as log, highwater_node_core as core, highwater_wire as wire};

pub use effect::{ConnId, Effect, Effects, Input, OpId};
pub use event::Event;
pub use kernel::Kernel;
pub use node::Node;
pub use reply::ReplyToken;
