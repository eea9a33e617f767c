//! Which configurations operators may change, for the controller to check.

use highwater_node_core::controller::ConfigRules;

use crate::config::TableRules;

/// The table of properties that the controller checks changes by.
pub(super) fn table() -> Box<dyn ConfigRules + Send> {
    Box::new(TableRules)
}
