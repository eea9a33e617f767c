//! The node as a process: how it starts, stops, recovers, and what strangers cannot do to it.

#![allow(clippy::unwrap_used, reason = "a test outside of the core")]

mod client;
mod hostile;
mod nodes;
mod serve;
mod start;
