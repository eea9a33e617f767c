//! A partition's log in Kafka's file formats: batches, segments, indexes, checkpoints, recovery.
//!
//! [`batch`] reads, builds and validates record batches and needs nothing else. [`Store`] executes
//! [`Command`]s in order over a [`Disk`]; it holds the logs of one log directory.

pub mod batch;
pub mod disk;
mod epochs;
pub mod file;
mod log;
mod producers;
mod segment;
pub mod store;

pub use disk::{Disk, DiskError, MemDisk};
pub use store::{Command, Completion, Done, LogConfig, LogId, Store, StoreError};
