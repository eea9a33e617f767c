//! What a node's disk holds for certain, and what it loses with its power.
//!
//! The shim (`harness/shim`) is preloaded into a node and journals what the node made durable. A
//! power loss reads that journal and the node's log directories after the kill, and takes away what
//! was not durable: `power::lose` decides, and is a function of both and of a seed.

mod acts;
mod control;
mod durable;
mod error;
mod inode;
mod journal;
#[path = "../../shim/src/layout.rs"]
mod layout;
mod library;
mod node_disk;
mod power;
mod set;
mod tree;

pub use control::{Lever, LeverGuard};
pub use error::DiskError;
pub use library::{LIBRARY, VARIABLE, find as find_library, for_schedule};
pub use node_disk::Loss;
pub use power::Survives;
pub use set::{Disks, Place};

#[cfg(test)]
mod tests;
