//! Which fault caused a loss: the last one that struck before the record was surely gone.
//!
//! A record is gone as soon as one that was sent after its acknowledgement stands at its offset or
//! below; at the latest when the leader was elected whose part of the log stands there at the end.

use highwater_checker::{leadership::CLOCK_SLACK_NS, registry::Registration, view::KeyView};
use highwater_history::{Offset, TimeNs, outcome::FaultOutcome};

/// Faults that end a node's process; all others only set the scene.
const STRIKES: [&str; 4] = ["kill", "power-loss", "stop", "wipe"];

/// What a loss is put down to when nobody told where the record was, or no election tells.
pub(super) const UNKNOWN: &str = "not told";

/// What tells when a key's records were gone.
pub(super) struct Witnesses<'a> {
    view: &'a KeyView<'a>,
    states: &'a [Registration],
    faults: &'a [FaultOutcome],
    /// Of every record whose place was told: when its send began, where it stood, when that was
    /// told.
    placed: Vec<(TimeNs, Offset, TimeNs)>,
}

impl<'a> Witnesses<'a> {
    pub(super) fn of(view: &'a KeyView<'a>, faults: &'a [FaultOutcome]) -> Self {
        Self { view, states: view.states(), faults, placed: placed(view) }
    }

    /// The fault that cost this key what stood at `offset` and was acknowledged at `at`.
    pub(super) fn cause(&self, offset: Option<Offset>, at: TimeNs) -> String {
        let gone = offset.and_then(|offset| {
            let told = [self.overwritten(offset, at), self.cut_for_good(offset, at)];
            told.into_iter().flatten().min()
        });
        let Some(gone) = gone else { return UNKNOWN.to_owned() };
        let struck = self.faults.iter().filter(|fault| STRIKES.contains(&fault.kind.as_str()));
        let before = struck.filter(|fault| fault.from.is_some_and(|from| from <= gone));
        let last = before.max_by_key(|fault| fault.from);
        last.map_or_else(|| "no fault".to_owned(), |fault| name(fault, self.states))
    }

    /// When it was first told that something sent later stands at an offset or below.
    fn overwritten(&self, offset: Offset, at: TimeNs) -> Option<TimeNs> {
        let later = self.placed.iter().filter(|(sent, ..)| *sent >= at);
        later.filter(|(_, place, _)| *place <= offset).map(|(.., told)| *told).min()
    }

    /// When the leader was elected whose log stands at an offset at the end.
    fn cut_for_good(&self, offset: Offset, at: TimeNs) -> Option<TimeNs> {
        let log = self.view.log.as_ref()?;
        let cut = self.states.iter().find(|state| {
            let later = state.at.saturating_add(CLOCK_SLACK_NS) >= at;
            later && state.elected && log.start_of_epoch(state.leader_epoch) <= offset
        })?;
        // Epochs of which nothing is left say nothing: the first that stands in the log cut it.
        let (epoch, _) = log.epochs.iter().find(|(epoch, _)| *epoch >= cut.leader_epoch)?;
        let elected =
            self.states.iter().find(|state| state.elected && state.leader_epoch == *epoch);
        elected.map(|state| state.at.saturating_add(CLOCK_SLACK_NS))
    }
}

fn placed(view: &KeyView<'_>) -> Vec<(TimeNs, Offset, TimeNs)> {
    let (records, ops) = (&view.key.records, &view.run.index.ops);
    let acknowledged = records.ids().filter_map(|record| {
        let sender = view.sender(record)?;
        Some((sender.invoked_at, records.ack(record, ops)?, sender.completed_at))
    });
    let read = view.key.reads.runs().iter().flat_map(|run| {
        let told = view.op(run.op).completed_at;
        view.key.reads.of(run).filter_map(move |(offset, record)| {
            Some((view.sender(record)?.invoked_at, offset?, told))
        })
    });
    acknowledged.chain(read).collect()
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
