//! The controller's part of a node: the metadata log and who may change it.

use crate::config::NodeConfig;
use crate::kernel::Kernel;
use crate::node::Node;
use crate::startup::Startup;

/// What a node holds as a controller.
#[derive(Debug)]
pub struct ControllerRole {}

impl ControllerRole {
    pub(crate) fn new(_config: &NodeConfig, _kernel: &mut Kernel) -> ControllerRole {
        ControllerRole {}
    }

    /// Begins once the log directory is known.
    pub(crate) fn start(_node: &mut Node, _startup: &Startup) {}
}
