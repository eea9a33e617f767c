//! Which configurations operators may change, for the controller to check.

use highwater_node_core::controller::{ConfigKind, ConfigRules};
use highwater_node_core::metadata::record::Resource;

/// The table of properties that the controller checks changes by.
pub(super) fn table() -> Box<dyn ConfigRules + Send> {
    Box::new(AnyConfig)
}

struct AnyConfig;

impl ConfigRules for AnyConfig {
    fn kind(&self, _resource: &Resource, _name: &str) -> Option<ConfigKind> {
        Some(ConfigKind::Single)
    }

    fn check(&self, _resource: &Resource, _name: &str, _value: &str) -> Result<(), String> {
        Ok(())
    }
}
