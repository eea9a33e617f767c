//! What faults act through and aim at: the controls, the observed cluster, roles, proofs.

mod aim;
mod controls;
mod disturbed;
mod down;
mod end;
mod ending;
mod links;
mod lost_data;
mod view;

pub use aim::{Aim, Aimer, Role, Side};
pub use controls::{Controls, Hooks, NoHooks, Rng, next_sight};
pub use disturbed::Disturbed;
pub use down::{Down, Ended};
pub use end::{How, PATIENCE_MS, kill_nodes, stop_nodes};
pub use ending::{Done, Ending, NotInstalled};
pub use links::{LinkFault, Stretch, Ways, across};
pub use lost_data::LostData;
pub use view::{ClusterView, Partition, PartitionView};

#[cfg(test)]
mod tests;
