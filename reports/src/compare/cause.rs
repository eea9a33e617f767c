//! Which fault caused a loss: the last one that struck before the record was surely gone.
//!
//! A record is gone as soon as one that was sent after its acknowledgement stands at its offset or
//! below; at the latest when the leader was elected whose part of the log stands there at the end.

use std::collections::BTreeMap;

use highwater_checker::{
    index::records::RecordId, leadership::CLOCK_SLACK_NS, registry::Registration, view::KeyView,
};
use highwater_history::{Offset, TimeNs, outcome::FaultOutcome};

/// Faults that end a node's process; all others only set the scene.
const STRIKES: [&str; 4] = ["kill", "power-loss", "stop", "wipe"];

/// What a loss is put down to when nobody told where the record was, or no election tells.
pub(super) const UNKNOWN: &str = "not told";

/// What tells when a key's records were gone.
pub(super) struct Witnesses<'a> {
    pub(super) view: &'a KeyView<'a>,
    states: &'a [Registration],
    faults: &'a [FaultOutcome],
    /// Of every record whose place was told: when its send began, where it stood, when that was
    /// told.
    placed: Vec<(TimeNs, Offset, TimeNs)>,
    /// Where polls saw records.
    read: BTreeMap<RecordId, Offset>,
}

impl<'a> Witnesses<'a> {
    pub(super) fn of(view: &'a KeyView<'a>, faults: &'a [FaultOutcome]) -> Self {
        let runs = view.key.reads.iter();
        let read = runs.filter_map(|(offset, record)| Some((record, offset?))).collect();
        Self { view, states: view.states(), faults, placed: placed(view), read }
    }

    /// Where a record stood, as its acknowledgement or else a poll told.
    pub(super) fn place(&self, record: RecordId) -> Option<Offset> {
        let acknowledged = self.view.key.records.ack(record, &self.view.run.index.ops);
        acknowledged.or_else(|| self.read.get(&record).copied())
    }

    /// The fault that cost this key what stood at `offset` and was acknowledged at `at`, as the
    /// table names it.
    pub(super) fn cause(&self, offset: Option<Offset>, at: TimeNs) -> String {
        let name = |fault: Option<_>| fault.map_or("no fault".to_owned(), |fault| self.name(fault));
        let gone = self.gone(offset, at);
        gone.map_or_else(|| UNKNOWN.to_owned(), |gone| name(self.last_strike(gone)))
    }

    /// The same as the fault itself; none where nothing tells.
    pub(super) fn strike(&self, offset: Option<Offset>, at: TimeNs) -> Option<&'a FaultOutcome> {
        self.last_strike(self.gone(offset, at)?)
    }

    fn last_strike(&self, gone: TimeNs) -> Option<&'a FaultOutcome> {
        let struck = self.faults.iter().filter(|fault| STRIKES.contains(&fault.kind.as_str()));
        let before = struck.filter(|fault| fault.from.is_some_and(|from| from <= gone));
        before.max_by_key(|fault| fault.from)
    }

    /// By when what stood at `offset` and was acknowledged at `at` was surely gone.
    fn gone(&self, offset: Option<Offset>, at: TimeNs) -> Option<TimeNs> {
        let offset = offset?;
        [self.overwritten(offset, at), self.cut_for_good(offset, at)].into_iter().flatten().min()
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

    /// A fault as the table names it: its kind, whom it hit, and how far the ISR was down by then.
    fn name(&self, fault: &FaultOutcome) -> String {
        let from = fault.from.unwrap_or(0);
        let before = self.states.iter().rev().find(|state| state.at < from);
        let isr = before.map_or(0, |state| state.isr.len());
        let hit = match fault.targets.len() {
            1 => "the leader".to_owned(),
            brokers => format!("{brokers} brokers"),
        };
        format!("{} of {hit} at ISR {isr}", fault.kind)
    }
}

fn placed(view: &KeyView<'_>) -> Vec<(TimeNs, Offset, TimeNs)> {
    let (records, ops) = (&view.key.records, &view.run.index.ops);
    let acknowledged = records.ids().filter_map(|record| {
        let sender = view.sender(record)?;
        Some((sender.invoked_at, records.ack(record, ops)?, sender.completed_at))
    });
    let read = view.key.reads.runs().flat_map(|run| {
        let told = view.op(run.op).completed_at;
        view.key.reads.of(&run).filter_map(move |(offset, record)| {
            Some((view.sender(record)?.invoked_at, offset?, told))
        })
    });
    acknowledged.chain(read).collect()
}
