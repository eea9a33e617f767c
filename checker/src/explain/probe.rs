//! Asks a claim whether it still finds a finding in a part of the history.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use highwater_history::{Event, verdict::Finding};

use super::{
    gather::Gathered,
    unit::{Unit, history_of},
};
use crate::{
    Evidence, History, Options,
    across::Whole,
    claim::{self, Entry, Judge},
    finding::{Findings, is_about_same},
    judge::{read_history, viewed},
    part::Part,
    view::{KeyView, RunView},
};

/// One finding, its claim, and the evidence to judge by; the history changes from question to
/// question.
pub(super) struct Probe<'a> {
    pub(super) evidence: &'a mut Evidence,
    options: &'a Options,
    entry: &'static Entry,
    /// The finding as the whole history shows it.
    pub(super) sought: &'a Finding,
    /// Indexes of its events.
    own: BTreeSet<u64>,
    /// What the history says beside its operations.
    pub(super) surroundings: &'a [Event],
    /// Index of the record's send, where the finding names it: without it the claim would find that
    /// nobody sent the record, which is another matter.
    sender: Option<u64>,
    /// Whether the same at the same place is enough, whichever operations show it.
    pub(super) by_any: bool,
    /// Operations that it may still be asked about, each as often as it is.
    left: usize,
}

/// Operations that may be asked about in any case.
const LEAST_ASKED: usize = 500_000;
/// And each of those that a search begins with so often.
const ASKED_AGAIN: usize = 20;

impl<'a> Probe<'a> {
    /// Asks `claim` about `sought`.
    pub(super) fn new(
        evidence: &'a mut Evidence,
        options: &'a Options,
        (claim, sought): (&str, &'a Finding),
        gathered: &Gathered,
        surroundings: &'a [Event],
    ) -> Self {
        let entry = claim::entry(claim).expect("a claim that found something is in the table");
        let own = sought.events.iter().copied().collect();
        let sender = gathered.own.iter().find(|unit| unit.sends(sought)).map(Unit::id);
        Self {
            evidence,
            options,
            entry,
            sought,
            own,
            surroundings,
            sender,
            by_any: false,
            left: LEAST_ASKED,
        }
    }

    /// The same about other evidence.
    pub(super) fn with<'b>(
        &'b self,
        evidence: &'b mut Evidence,
        surroundings: &'b [Event],
    ) -> Probe<'b> {
        Probe {
            evidence,
            options: self.options,
            entry: self.entry,
            sought: self.sought,
            own: self.own.clone(),
            surroundings,
            sender: self.sender,
            by_any: self.by_any,
            left: self.left,
        }
    }

    /// Lets it be asked while the least of so many operations is looked for: few take many
    /// questions, and a finding that takes very many of them as many as these and each as long.
    pub(super) fn allow(&mut self, operations: usize) {
        self.left = LEAST_ASKED.saturating_add(operations.saturating_mul(ASKED_AGAIN));
    }

    /// Notes that it was asked about so many operations.
    pub(super) fn spend(&mut self, operations: usize) {
        self.left = self.left.saturating_sub(operations);
    }

    /// Whether it was asked as much as it is allowed to be.
    pub(super) fn has_given_up(&self) -> bool {
        self.left == 0
    }

    /// Whether the claim finds it in these operations.
    pub(super) fn stands(&mut self, units: &[Unit]) -> bool {
        self.found(units).is_some()
    }

    /// The finding in these operations, its events those of this history.
    pub(super) fn found(&mut self, units: &[Unit]) -> Option<Finding> {
        self.spend(units.len());
        let was = self.set(units);
        let sought = self.sought;
        let found = self.look(|run, keys| {
            catch_unwind(AssertUnwindSafe(|| ask(self.entry, sought, run, keys))).ok()
        })??;
        let all = found.violations.into_iter().chain(found.allowed);
        let mut same: Vec<Finding> = all.filter(|found| self.is_it(found, &was)).collect();
        let alike = same.iter().position(|found| found.why == sought.why).unwrap_or(0);
        (!same.is_empty()).then(|| same.swap_remove(alike))
    }

    /// Shows the run with the history that was asked about last.
    pub(super) fn look<T>(
        &self,
        look: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
    ) -> Option<T> {
        let (index, unfit, dropped) = read_history(self.evidence, Part::WHOLE).ok()?;
        if unfit.is_some() {
            return None;
        }
        Some(viewed(self.evidence, self.options, (&index, dropped.is_some()), look))
    }

    /// Puts these operations in the place of the history; the index that each event had.
    pub(super) fn set(&mut self, units: &[Unit]) -> Vec<u64> {
        let (events, was) = history_of(self.surroundings, units);
        self.evidence.history = History::Events(events);
        was
    }

    /// Whether a finding is the one that is sought: it shows the same, and by the same operations.
    /// One of less events than the whole history gives it is the same; one of others would tell of
    /// a step that nobody took, for what lies between was left out.
    fn is_it(&self, found: &Finding, was: &[u64]) -> bool {
        if !is_about_same(found, self.sought) {
            return false;
        }
        let nowhere = found.value.is_none() && found.offset.is_none();
        if nowhere && self.own.is_empty() {
            return found.why == self.sought.why;
        }
        let mut events = found.events.iter().map(|event| was[*event as usize]);
        if self.sender.is_some_and(|sender| !events.clone().any(|event| event == sender)) {
            return false;
        }
        self.by_any || events.all(|event| self.own.contains(&event))
    }
}

/// What a claim finds of which only those findings are kept that are about the same as one.
fn ask(entry: &Entry, sought: &Finding, run: &RunView<'_>, keys: &[KeyView<'_>]) -> Findings {
    let mut findings = Findings::seeking(sought);
    let mut ask_keys = |judge: fn(&KeyView<'_>, &mut Findings)| {
        for view in keys {
            let mut of_key = Findings::seeking(sought);
            judge(view, &mut of_key);
            findings.merge(of_key);
        }
    };
    match entry.judge {
        Judge::Key(judge) => ask_keys(judge),
        Judge::RunAndKeys(of_run, judge) => {
            ask_keys(judge);
            of_run(run, &mut findings);
        }
        Judge::Across(across) => {
            let names = keys.iter().map(|view| view.key.key.clone()).collect();
            let whole = Whole { evidence: run.evidence, keys: names };
            let facts = (across.gather)(run, keys);
            (across.judge)(&whole, vec![facts], &mut findings);
        }
    }
    findings
}
