//! Which changes make what legal, and of those the least.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Verdict,
    verdict::{ClaimVerdict, Judgement},
};

use super::{
    Alternative,
    settings::{Change, Settings},
};
use crate::claim;

/// Verdicts by change, and the least changes that make something legal.
pub(super) struct Search {
    verdicts: BTreeMap<Change, Verdict>,
    /// By anomaly, and for the whole.
    least: BTreeMap<Option<String>, Vec<Change>>,
}

impl Search {
    /// Begins with the verdict by what was promised; what is legal by that is not asked about.
    pub(super) fn new(promised: &Verdict) -> Self {
        let anomalies = promised.anomalies.keys().cloned().map(Some);
        let whole = (!is_legal(promised, None)).then_some(None);
        let least = anomalies.chain(whole).map(|about| (about, Vec::new())).collect();
        Self { verdicts: BTreeMap::new(), least }
    }

    /// Whether the verdict by a change may tell anything that is not known.
    pub(super) fn asks(&self, change: &Change) -> bool {
        self.least.values().any(|least| !least.iter().any(|known| includes(change, known)))
    }

    /// Takes the verdict by a change. Those of fewer steps were taken before.
    pub(super) fn take(&mut self, change: Change, verdict: Verdict) {
        for (about, least) in &mut self.least {
            let is_more = least.iter().any(|known| includes(&change, known));
            if !is_more && is_legal(&verdict, about.as_deref()) {
                least.push(change);
            }
        }
        self.verdicts.insert(change, verdict);
    }

    /// How many verdicts were taken.
    pub(super) fn judged(&self) -> usize {
        self.verdicts.len()
    }

    /// The verdict by a change, if it was asked for.
    pub(super) fn verdict(&self, change: &Change) -> Option<&Verdict> {
        self.verdicts.get(change)
    }

    /// The least changes that make an anomaly legal, or the whole.
    pub(super) fn alternatives(
        &self,
        settings: &Settings,
        about: Option<&String>,
    ) -> Vec<Alternative> {
        let least = self.least.get(&about.cloned()).into_iter().flatten();
        least
            .map(|change| {
                let verdict = &self.verdicts[change];
                Alternative {
                    promises: settings.changed(change),
                    verdict: verdict.verdict,
                    reason: verdict.reason.clone(),
                    clauses: clauses(verdict, about),
                }
            })
            .collect()
    }
}

/// Whether one change goes at least as far as another in every setting.
fn includes(change: &Change, other: &Change) -> bool {
    change.iter().zip(other).all(|(steps, other)| steps >= other)
}

/// Whether an anomaly, or none at all, is a violation, and everything about it is decided.
pub(super) fn is_legal(verdict: &Verdict, about: Option<&str>) -> bool {
    let is_asked = |claim: &&ClaimVerdict| about.is_none_or(|anomaly| reports(claim, anomaly));
    let none = match about {
        Some(anomaly) => !verdict.anomalies.contains_key(anomaly),
        None => verdict.anomalies.is_empty(),
    };
    none && !verdict.claims.iter().filter(is_asked).any(is_undecided)
}

/// Whether a claim may report an anomaly.
pub(super) fn reports(claim: &ClaimVerdict, anomaly: &str) -> bool {
    claim::entry(&claim.claim).is_some_and(|entry| entry.anomalies.contains(&anomaly))
}

/// Whether something of a claim could not be decided.
pub(super) fn is_undecided(claim: &ClaimVerdict) -> bool {
    claim.reason.is_some() && claim.verdict != Judgement::NotApplicable
}

fn clauses(verdict: &Verdict, about: Option<&String>) -> BTreeSet<String> {
    let findings = verdict.claims.iter().flat_map(|claim| &claim.findings);
    let asked = findings.filter(|found| about.is_none_or(|anomaly| *anomaly == found.anomaly));
    asked.filter_map(|finding| finding.clause.clone()).collect()
}
