//! The figures of a run in which more and more replicas lose power: what can still be written, and
//! what it costs.

use std::collections::BTreeMap;

use highwater_checker::view::{KeyView, RunView};
use highwater_history::{TimeNs, outcome::FaultOutcome};

use super::{
    availability,
    cause::Witnesses,
    faulty,
    model::{Controllers, DownCell},
};

/// The cells of a run, from the same view that its verdict was judged by; one key a setting.
///
/// Replicas were left down for `held_ns` before they were started again.
pub fn down(run: &RunView<'_>, keys: &[KeyView<'_>], held_ns: TimeNs) -> Vec<DownCell> {
    let faults = run.evidence.outcome.as_ref().map_or(&[][..], |outcome| &outcome.faults);
    let mut nodes = run.evidence.manifest.iter().flat_map(|manifest| &manifest.target.nodes);
    let combined = nodes.any(|node| node.is_broker() && node.is_controller());
    let controllers = if combined { Controllers::Combined } else { Controllers::Separate };
    // Of a key whose final log nobody knows, nobody knows what it lost.
    let known = keys.iter().filter(|key| key.log.is_some());
    let mut cells: Vec<DownCell> =
        known.flat_map(|key| of_key(key, controllers, (faults, held_ns))).collect();
    cells.sort_by(|a, b| (&a.setting, a.down).cmp(&(&b.setting, b.down)));
    cells
}

fn of_key(
    key: &KeyView<'_>,
    controllers: Controllers,
    (faults, held_ns): (&[FaultOutcome], TimeNs),
) -> Vec<DownCell> {
    let Some(setting) = faulty::setting(key) else { return Vec::new() };
    let witnesses = Witnesses::of(key, faults);
    let mut lost: BTreeMap<Option<TimeNs>, u64> = BTreeMap::new();
    let acknowledged = faulty::each_loss(&witnesses, setting.acks, |place, at, _| {
        let strike = witnesses.strike(place, at);
        *lost.entry(strike.and_then(|fault| fault.from)).or_default() += 1;
    });
    let gaps = availability::gaps(faulty::sends(key));
    let cell = |fault: &FaultOutcome| {
        let window = once_known(fault.from?, held_ns);
        Some(DownCell {
            setting: setting.clone(),
            controllers,
            down: fault.targets.len() as u32,
            availability: availability::served(&vec![window], &gaps),
            acknowledged,
            lost: lost.get(&fault.from).copied().unwrap_or(0),
        })
    };
    faults.iter().filter(|fault| fault.kind == "power-loss").filter_map(cell).collect()
}

/// The second half of the time in which replicas were down: by then sessions have run out, leaders
/// are elected, the ISR is what is left.
fn once_known(from: TimeNs, held_ns: TimeNs) -> (TimeNs, TimeNs) {
    (from + held_ns / 2, from + held_ns)
}

#[cfg(test)]
mod tests {
    use super::once_known;

    #[test]
    fn the_first_half_of_a_fault_is_left_out() {
        assert_eq!(once_known(100, 10), (105, 110));
    }
}
