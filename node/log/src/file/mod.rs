//! The small files of a log directory, each as text or bytes and as a value.

pub mod checkpoint;
pub mod clean_shutdown;
pub mod index;
pub mod meta_properties;
pub mod name;
pub mod partition_metadata;
pub mod snapshot;
pub mod topic_id;

mod write;

#[cfg(test)]
mod tests;

pub(crate) use write::{read, replace};
