//! Which fault caused a loss: the last one that struck before the leader was elected whose log
//! stands where the record stood.

use highwater_checker::{leadership::CLOCK_SLACK_NS, registry::Registration, view::KeyView};
use highwater_history::{Offset, TimeNs, outcome::FaultOutcome};

/// Faults that end a node's process; all others only set the scene.
const STRIKES: [&str; 4] = ["kill", "power-loss", "stop", "wipe"];

/// What a loss is put down to when nobody told where the record was, or no election tells.
pub(super) const UNKNOWN: &str = "not told";

/// The fault that cost this key what stood at `offset` and was acknowledged at `at`.
pub(super) fn of(
    view: &KeyView<'_>,
    states: &[Registration],
    faults: &[FaultOutcome],
    (offset, at): (Option<Offset>, TimeNs),
) -> String {
    let (Some(log), Some(offset)) = (&view.log, offset) else { return UNKNOWN.to_owned() };
    let cut = states.iter().find(|state| {
        let later = state.at.saturating_add(CLOCK_SLACK_NS) >= at;
        later && state.elected && log.start_of_epoch(state.leader_epoch) <= offset
    });
    // Epochs of which nothing is left say nothing: the first one that stands in the log cut it.
    let epoch = cut.and_then(|cut| {
        let stands = log.epochs.iter().find(|(epoch, _)| *epoch >= cut.leader_epoch);
        stands.map(|(epoch, _)| *epoch)
    });
    let elected = epoch
        .and_then(|epoch| states.iter().find(|state| state.elected && state.leader_epoch == epoch));
    let Some(elected) = elected else { return UNKNOWN.to_owned() };
    let struck = faults.iter().filter(|fault| STRIKES.contains(&fault.kind.as_str()));
    let before = struck.filter(|fault| {
        fault.from.is_some_and(|from| from <= elected.at.saturating_add(CLOCK_SLACK_NS))
    });
    let last = before.max_by_key(|fault| fault.from);
    last.map_or_else(|| "no fault".to_owned(), |fault| name(fault, states))
}

/// A fault as the table names it: its kind, whom it hit, and how far the ISR was down by then.
pub(super) fn name(fault: &FaultOutcome, states: &[Registration]) -> String {
    let from = fault.from.unwrap_or(0);
    let before = states.iter().rev().find(|state| state.at < from);
    let isr = before.map_or(0, |state| state.isr.len());
    let hit = match fault.targets.len() {
        1 => "the leader".to_owned(),
        brokers => format!("{brokers} brokers"),
    };
    format!("{} of {hit} at ISR {isr}", fault.kind)
}
