//! Judges the evidence of a run: claims over a history.
//!
//! [`check`] reads the history once into an [`index::Index`] (struct of arrays per key), asks every
//! claim of `src/claim/` about it, and merges their answers into a [`Verdict`]. What one anomaly is
//! and what permits it is decided by the contract; every finding names the rule it breaks or the
//! clause that allows it.

pub mod across;
mod assertions;
mod budget;
pub mod claim;
pub mod cli;
pub mod conflict;
mod coverage;
mod cycle;
mod data_loss;
mod epoch_batches;
pub mod evidence;
mod faults;
pub mod finding;
mod fold;
pub mod index;
mod insync;
mod judge;
mod leaderless;
pub mod leadership;
mod merge;
mod metrics;
mod min_isr;
mod notes;
mod parallel;
pub mod part;
mod permission;
mod reason;
pub mod registry;
mod replaced;
pub mod replicas;
mod retention;
pub mod shard;
pub mod shard_cli;
pub mod text;
pub mod told;
pub mod view;
mod whole;

pub use evidence::{Evidence, History};
pub use highwater_history::Verdict;
pub use judge::{CheckError, Options, check, look};
