//! Which settings of a cell a run put to the test: a setting that nothing ever touched proves
//! nothing.

use std::collections::BTreeMap;

use highwater_checker::registry::Registration;
use highwater_history::{Event, EventValue};

use super::model::Setting;

/// Each setting's name, and whether the run exercised it on a key with these states.
pub(super) fn of(
    setting: &Setting,
    states: &[Registration],
    power_cut: bool,
) -> BTreeMap<String, bool> {
    let leaders: Vec<_> = states.iter().filter_map(|state| state.leader).collect();
    let moved = leaders.windows(2).any(|pair| pair[0] != pair[1]);
    let smallest = states.iter().map(|state| state.isr.len()).min().unwrap_or(0);
    // As soon as the ISR is at the floor one copy less would go below it.
    let at_the_floor = smallest <= setting.min_isr as usize;
    let election = match setting.unclean {
        true => states.iter().any(|state| state.unclean),
        false => states.iter().any(|state| state.leader.is_none()),
    };
    let named = [
        ("acks", moved),
        ("min.insync.replicas", at_the_floor),
        ("unclean.leader.election.enable", election),
        ("flush.messages", power_cut),
    ];
    named.map(|(name, was)| (name.to_owned(), was)).into()
}

/// Whether an event says that a power loss cut bytes that were not flushed, of any key.
pub(super) fn is_power_cut(event: &Event) -> bool {
    let EventValue::Other(value) = &event.value else { return false };
    let nodes = value.get("cut").filter(|_| event.f.as_str() == "power-loss");
    let partitions = nodes.and_then(|nodes| nodes.as_object()).into_iter().flatten();
    let mut cuts = partitions.filter_map(|(_, of)| of.as_object()).flat_map(|of| of.values());
    cuts.any(|cut| cut.get("bytes").and_then(serde_json::Value::as_u64).unwrap_or(0) > 0)
}
