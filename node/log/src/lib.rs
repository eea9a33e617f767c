//! A partition's log: batches, segments, indexes, checkpoints, recovery.

/// What the store is asked to do.
#[derive(Debug)]
pub enum Command {}

/// What a command gave.
#[derive(Debug)]
pub enum Completion {}
