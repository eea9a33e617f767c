//! `check`: reads the history once, asks every claim, merges the answers into a verdict.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow::{Break, Continue},
    panic::{AssertUnwindSafe, catch_unwind},
};

use highwater_history::{
    Event, FormatError, Promise, Verdict,
    ahead::read_ahead,
    format::Document,
    reader::HistoryReader,
    verdict::{AnomalyCounts, ClaimVerdict, Coverage, Finding, Judgement},
};

use crate::{
    assertions,
    claim::{self, Entry, Judge},
    coverage, data_loss,
    evidence::{Evidence, History},
    finding::{Findings, Losses, merge_counts},
    index::{Builder, Index, Unfit},
    leadership::Leadership,
    metrics, notes, reason,
    registry::Registry,
    told::Sayings,
    view::{KeyView, RunView},
    whole,
};

/// How to judge.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Promises that the user names; they override what the evidence says.
    pub promise: Promise,
    /// The claims to judge; none means those of the manifest, or all.
    pub claims: Option<Vec<String>>,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The history cannot be read as one.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A claim that does not exist was asked for.
    #[error("unknown claim {0:?}; `highwater list claims` names them")]
    UnknownClaim(String),
}

/// The judgement before it is a verdict.
pub(crate) struct Judged<'a> {
    pub evidence: &'a Evidence,
    pub index: &'a Index,
    pub unfit: Option<Unfit>,
    pub claims: Vec<ClaimVerdict>,
    pub coverage: Vec<Coverage>,
    pub notes: Vec<String>,
    /// Evidence that a complete run has and this one lacks.
    pub missing: Vec<String>,
}

/// Judges the evidence of a run.
pub fn check(evidence: &Evidence, options: &Options) -> Result<Verdict, CheckError> {
    let chosen = chosen_claims(evidence, options)?;
    let (index, unfit, dropped_line) = read_history(evidence)?;
    whole::fits_manifest(evidence, &index)?;
    let notes = notes::of(evidence, options, &chosen, &index, dropped_line);
    let judge = |run: &RunView<'_>, keys: &[KeyView<'_>]| {
        let (mut claims, mut measured) = (Vec::new(), BTreeMap::new());
        for name in &chosen {
            let (verdict, losses) = match &unfit {
                None => judge_claim(name, run, keys),
                Some(unfit) => {
                    (undecided_claim(name, format!("the history is unfit: {unfit}")), None)
                }
            };
            claims.push(verdict);
            measured.extend(losses.map(|losses| (name.clone(), losses)));
        }
        let without_log = whole::without_final_log(run, keys);
        (claims, coverage::floors(run, keys), metrics::of(run, keys, measured), without_log)
    };
    let (claims, coverage, metrics, without_log) =
        viewed(evidence, options, (&index, dropped_line.is_some()), judge);
    let missing = evidence.incomplete.iter().cloned().chain(without_log).collect();
    let judged = Judged { evidence, index: &index, unfit, claims, coverage, notes, missing };
    let mut verdict = verdict(judged, metrics);
    assertions::judge(&mut verdict, evidence, options);
    Ok(verdict)
}

/// Shows a run as the claims see it, for measurements beside its verdict.
pub fn look<T>(
    evidence: &Evidence,
    options: &Options,
    look: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
) -> Result<T, CheckError> {
    let (index, _, dropped_line) = read_history(evidence)?;
    Ok(viewed(evidence, options, (&index, dropped_line.is_some()), look))
}

fn viewed<T>(
    evidence: &Evidence,
    options: &Options,
    (index, is_cut): (&Index, bool),
    look: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
) -> T {
    let registry = Registry::of(evidence, &options.promise);
    let leadership = Leadership::of(evidence, &registry);
    let sayings = Sayings::of(evidence, index);
    let losses = data_loss::of(index);
    let run = RunView {
        evidence,
        index,
        leadership: &leadership,
        registry: &registry,
        losses: &losses,
        sayings: &sayings,
        said: &options.promise,
        is_cut,
    };
    look(&run, &run.keys())
}

fn chosen_claims(evidence: &Evidence, options: &Options) -> Result<Vec<String>, CheckError> {
    let known = |name: &String| claim::TABLE.iter().any(|(known, ..)| known == name);
    if let Some(asked) = &options.claims {
        return match asked.iter().find(|name| !known(name)) {
            Some(name) => Err(CheckError::UnknownClaim(name.clone())),
            None => Ok(without_repeats(asked)),
        };
    }
    let named = evidence.manifest.as_ref().map(|manifest| manifest.claims.clone());
    match named.filter(|claims| !claims.is_empty()) {
        Some(claims) => Ok(without_repeats(&claims)),
        None => Ok(claim::TABLE.iter().map(|(name, ..)| (*name).to_owned()).collect()),
    }
}

/// Each name once, in order: a claim that is judged twice counts twice.
pub(crate) fn without_repeats(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(*name)).cloned().collect()
}

/// What the history holds, why it is unfit, and the line from which on it is missing.
type ReadHistory = (Index, Option<Unfit>, Option<u64>);

fn read_history(evidence: &Evidence) -> Result<ReadHistory, FormatError> {
    let promises = evidence.manifest.as_ref().map(|manifest| &manifest.promises);
    let mut builder = Builder::new(promises);
    let mut dropped_line = None;
    let mut unfit = None;
    match &evidence.history {
        History::Events(events) => {
            for (nth, event) in events.iter().enumerate() {
                unfit = observe(&mut builder, event.clone(), nth as u64 + 1);
                if unfit.is_some() {
                    break;
                }
            }
        }
        History::File(file) => {
            let read = read_ahead(HistoryReader::open(file)?, |line, event| {
                observe(&mut builder, event, line).map_or(Continue(()), Break)
            })?;
            unfit = read.broke_off;
            dropped_line = read.dropped_line;
        }
    }
    Ok((builder.finish(), unfit, dropped_line))
}

fn observe(builder: &mut Builder<'_>, event: Event, line: u64) -> Option<Unfit> {
    builder.observe(event).err().map(|why| Unfit { line, why })
}

/// Asks one claim; its panic is its own and leaves it unknown.
fn judge_claim(
    name: &str,
    run: &RunView<'_>,
    keys: &[KeyView<'_>],
) -> (ClaimVerdict, Option<Losses>) {
    let Some((_, _, entry)) = claim::TABLE.iter().find(|(known, ..)| *known == name) else {
        return (undecided_claim(name, "this program has no such claim".to_owned()), None);
    };
    judge_entry(name, entry, run, keys)
}

fn judge_entry(
    name: &str,
    entry: &Entry,
    run: &RunView<'_>,
    keys: &[KeyView<'_>],
) -> (ClaimVerdict, Option<Losses>) {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let mut findings = Findings::default();
        match entry.judge {
            Judge::Run(judge) => judge(run, keys, &mut findings),
            Judge::Key(judge) => {
                for key in keys {
                    let mut of_key = Findings::default();
                    judge(key, &mut of_key);
                    findings.merge(of_key);
                }
            }
        }
        findings
    }));
    match judged {
        Ok(findings) => {
            let losses = findings.losses.clone();
            (claim_verdict(name, findings), Some(losses))
        }
        Err(_) => (undecided_claim(name, "the claim itself crashed".to_owned()), None),
    }
}

fn claim_verdict(name: &str, findings: Findings) -> ClaimVerdict {
    let mut verdict = undecided_claim(name, String::new());
    verdict.verdict = findings.judgement();
    verdict.reason = findings.undecided.or(findings.not_applicable);
    verdict.anomalies = findings.anomalies;
    verdict.permitted = findings.permitted;
    verdict.clauses = findings.clauses;
    verdict.findings = findings.violations;
    verdict.findings.extend(findings.allowed);
    verdict.findings_left_out = findings.left_out;
    verdict
}

fn undecided_claim(name: &str, why: String) -> ClaimVerdict {
    let known = claim::TABLE.iter().find(|(known, ..)| *known == name);
    ClaimVerdict {
        claim: name.to_owned(),
        title: known.map_or_else(String::new, |(_, title, _)| (*title).to_owned()),
        rules: known.map_or_else(Vec::new, |(_, _, entry)| entry.rules.to_vec()),
        verdict: Judgement::Unknown,
        reason: Some(why),
        anomalies: AnomalyCounts::new(),
        permitted: AnomalyCounts::new(),
        clauses: AnomalyCounts::new(),
        findings: Vec::<Finding>::new(),
        findings_left_out: 0,
    }
}

fn verdict(judged: Judged<'_>, metrics: BTreeMap<String, serde_json::Value>) -> Verdict {
    let (validity, reason) = reason::decide(&judged);
    let mut anomalies = AnomalyCounts::new();
    let mut permitted = AnomalyCounts::new();
    for claim in &judged.claims {
        merge_counts(&mut anomalies, &claim.anomalies);
        merge_counts(&mut permitted, &claim.permitted);
    }
    let Judged { evidence, index, claims, coverage, notes, .. } = judged;
    Verdict {
        format: Verdict::FORMAT,
        verdict: validity,
        exit: validity.exit(),
        reason,
        anomalies,
        permitted,
        metrics,
        counts: index.counts,
        claims,
        faults: evidence.outcome.as_ref().map_or_else(Vec::new, |outcome| outcome.faults.clone()),
        coverage,
        assertions: Vec::new(),
        notes,
        reproduce: evidence.manifest.as_ref().and_then(|manifest| manifest.reproduce.clone()),
    }
}
