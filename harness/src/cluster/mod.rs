//! The cluster under test: its plan (who listens where) and its running processes.

mod acts;
mod disk;
mod error;
mod life;
mod node_id;
mod pause;
mod plan;
mod properties;
mod ready;
mod running;
mod warnings;

pub use error::ClusterError;
pub use life::{Asked, Life, NodeState};
pub use node_id::NodeId;
pub use pause::PauseGuard;
pub use plan::{ClusterPlan, ControllerPlacement, Listener, NodePlan, Place, PlanError, Roles};
pub use properties::{is_planned, server_properties};
pub use running::Cluster;

#[cfg(test)]
pub(crate) mod tests;
