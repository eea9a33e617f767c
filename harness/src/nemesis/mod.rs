//! What faults act through and aim at: the controls, the observed cluster, roles, proofs.

mod aim;
mod controls;
mod ending;
mod view;

pub use aim::{Aim, Role};
pub use controls::{Controls, Hooks, NoHooks, Rng};
pub use ending::{Ending, NotInstalled};
pub use view::{ClusterView, Partition, PartitionView};
