//! The figures of one run with faults, cell by cell.

use std::collections::BTreeMap;

use highwater_checker::{
    finding::{Permission, Ruling},
    index::{
        operations::{Operation, Outcome},
        records::RecordId,
    },
    view::{KeyView, RunView},
};
use highwater_history::{Offset, TimeNs, event::Acks, outcome::FaultOutcome};

use super::{
    availability,
    cause::Witnesses,
    exercised,
    model::{CellFigures, Losses, Setting},
};

const NS_PER_MS: f64 = 1e6;

/// The cells of a run, from the same view that its verdict was judged by.
pub fn faulty(run: &RunView<'_>, keys: &[KeyView<'_>]) -> BTreeMap<Setting, CellFigures> {
    let faults = run.evidence.outcome.as_ref().map_or(&[][..], |outcome| &outcome.faults);
    let power_cut = run.index.others.iter().any(exercised::is_power_cut);
    let mut cells: BTreeMap<Setting, CellFigures> = BTreeMap::new();
    // Of a key whose final log nobody knows, nobody knows what it lost.
    for key in keys.iter().filter(|key| key.log.is_some()) {
        let Some(setting) = setting(key) else { continue };
        let figures = figures(key, &setting, faults, power_cut);
        cells.entry(setting).and_modify(|cell| add(cell, &figures)).or_insert(figures);
    }
    cells
}

/// The choice that a key's topic stands for; none where the manifest does not promise it.
pub(super) fn setting(key: &KeyView<'_>) -> Option<Setting> {
    let manifest = key.run.evidence.manifest.as_ref()?;
    let promise = manifest.promises.topics.get(key.key.topic_name())?;
    Some(Setting {
        acks: promise.acks?,
        min_isr: promise.min_insync_replicas?,
        unclean: promise.unclean_election?,
        flushed: promise.flush_messages == Some(1),
    })
}

/// Adds a second key of the same cell.
fn add(cell: &mut CellFigures, other: &CellFigures) {
    cell.sent += other.sent;
    cell.acknowledged += other.acknowledged;
    cell.losses.add(&other.losses);
    cell.duplicates += other.duplicates;
    cell.availability = cell.availability.min(other.availability);
    cell.recovery_ms = cell.recovery_ms.max(other.recovery_ms);
    for (name, was) in &other.exercised {
        *cell.exercised.entry(name.clone()).or_default() |= was;
    }
}

fn figures(
    view: &KeyView<'_>,
    setting: &Setting,
    faults: &[FaultOutcome],
    power_cut: bool,
) -> CellFigures {
    let witnesses = Witnesses::of(view, faults);
    let sent = view.key.records.len() as u64;
    let mut figures = CellFigures { sent, ..CellFigures::default() };
    figures.acknowledged = each_loss(&witnesses, setting.acks, |place, at, ruling| {
        let cause = witnesses.cause(place, at);
        count(&mut figures.losses, &ruling, cause);
    });
    let windows = availability::fault_windows(faults);
    let gaps = availability::gaps(sends(view));
    figures.duplicates = view.log.as_ref().map_or(0, |log| log.again.len() as u64);
    figures.availability = availability::served(&windows, &gaps);
    figures.recovery_ms = availability::longest_recovery_ns(&windows, &gaps) as f64 / NS_PER_MS;
    figures.exercised = exercised::of(setting, view.states(), power_cut);
    figures
}

/// Shows every acknowledged record that is gone: where it stood, when it was acknowledged, what
/// permits that it is gone; gives how many were acknowledged.
pub(super) fn each_loss(
    witnesses: &Witnesses<'_>,
    acks: Acks,
    mut show: impl FnMut(Option<Offset>, TimeNs, Ruling),
) -> u64 {
    let view = witnesses.view;
    let mut acknowledged = 0;
    for record in view.key.records.ids() {
        let Some(at) = acknowledged_at(view, acks, record) else { continue };
        acknowledged += 1;
        let place = witnesses.place(record);
        if let Some(ruling) = lost(view, record, place) {
            show(place, at, ruling);
        }
    }
    acknowledged
}

/// The sends of a key, each once.
pub(super) fn sends<'a>(view: &'a KeyView<'a>) -> impl Iterator<Item = &'a Operation> {
    let mut last = None;
    view.key.records.ids().filter_map(move |record| {
        let op = view.key.records.sender(record)?;
        let is_new = last != Some(op);
        last = Some(op);
        is_new.then(|| view.op(op))
    })
}

/// When a record was acknowledged; at acks=0, when it had been sent.
pub(super) fn acknowledged_at(view: &KeyView<'_>, acks: Acks, record: RecordId) -> Option<TimeNs> {
    let records = &view.key.records;
    let sender = view.sender(record)?;
    let counts = match acks {
        Acks::Zero => sender.outcome == Outcome::Ok,
        Acks::One | Acks::All => records.is_acknowledged(record),
    };
    counts.then_some(sender.completed_at)
}

/// What permits a record's absence; none when it is there.
fn lost(view: &KeyView<'_>, record: RecordId, place: Option<Offset>) -> Option<Ruling> {
    let log = view.log.as_ref()?;
    let records = &view.key.records;
    if log.committed_place(record).is_some() {
        return None;
    }
    if place.is_some_and(|place| place < log.from) {
        return None;
    }
    // Nobody ever said where such a record was, so nothing but its acks level is to be judged.
    if view.acks(record) == Acks::Zero && !records.is_read(record) {
        let never = Permission::new("c.2 acks=0", "nobody acknowledges acks=0");
        return Some(Ruling::Permitted(never));
    }
    Some(view.loss(record, place))
}

fn count(losses: &mut Losses, ruling: &Ruling, cause: String) {
    losses.records += 1;
    *losses.by_fault.entry(cause).or_default() += 1;
    match ruling {
        Ruling::Permitted(permission) => {
            *losses.permitted.entry(permission.clause.clone()).or_default() += 1;
        }
        Ruling::Forbidden => losses.forbidden += 1,
        Ruling::Undecided(_) => losses.undecided += 1,
    }
}
