//! Node processes: started in groups of their own, signalled by identity, found again by a marker.

mod exit;
mod identity;
mod known;
mod marker;
mod output;
mod spawn;

pub use exit::{Exit, ExitWatch};
pub use identity::{OsProcess, Signal};
pub use known::KnownPids;
pub use marker::{Marked, RUN_VARIABLE, marked_processes};
pub use spawn::{Spawn, SpawnError, Spawned, spawn};

#[cfg(test)]
mod tests;
