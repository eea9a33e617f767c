//! The little table of properties that the controller's tests know.

use crate::controller::{ConfigKind, ConfigRules};
use crate::metadata::record::Resource;

/// Knows `retention.ms` (a number), `cleanup.policy` (a list) and the switch of unclean elections.
pub struct Table;

impl ConfigRules for Table {
    fn kind(&self, _resource: &Resource, name: &str) -> Option<ConfigKind> {
        match name {
            "retention.ms" | "unclean.leader.election.enable" => Some(ConfigKind::Single),
            "cleanup.policy" => Some(ConfigKind::List { default: "delete".to_owned() }),
            _ => None,
        }
    }

    fn check(&self, _resource: &Resource, name: &str, value: &str) -> Result<(), String> {
        let known = |entry: &str| matches!(entry, "delete" | "compact");
        let fits = match name {
            "retention.ms" => value.parse::<i64>().is_ok(),
            "cleanup.policy" => value.split(',').all(known),
            _ => matches!(value, "true" | "false"),
        };
        if fits { Ok(()) } else { Err(format!("{name} cannot be {value:?}")) }
    }
}
