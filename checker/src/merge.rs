//! From the judged parts of a history to its verdict.

use std::{
    collections::BTreeMap,
    mem::take,
    panic::{AssertUnwindSafe, catch_unwind},
};

use highwater_history::{
    Verdict,
    event::Acks,
    format::Document,
    verdict::{AnomalyCounts, ClaimVerdict, Coverage, Finding, Judgement},
};

use crate::{
    across::Whole,
    assertions,
    claim::{self, Judge},
    coverage,
    evidence::Evidence,
    finding::{Findings, Losses, merge_counts},
    fold::{ClaimOfPart, JudgedPart, Tally},
    judge::Options,
    metrics, reason,
};

/// The judgement before it is a verdict.
pub(crate) struct Judged<'a> {
    pub evidence: &'a Evidence,
    /// Of all parts together.
    pub tally: &'a Tally,
    pub claims: &'a [ClaimVerdict],
    pub coverage: &'a [Coverage],
    /// Evidence that a complete run has and this one lacks.
    pub missing: Vec<String>,
}

/// The verdict of all parts of a history, in order. Of the evidence it asks only what no key has:
/// manifest, outcome, and what is incomplete.
pub(crate) fn verdict(evidence: &Evidence, options: &Options, parts: Vec<JudgedPart>) -> Verdict {
    let (tallies, of_parts): (Vec<_>, Vec<_>) =
        parts.into_iter().map(|part| (part.tally, part.claims)).unzip();
    let tally = add(tallies);
    let whole = Whole { evidence, keys: tally.keys.clone() };
    let (mut lost, mut counted) = (BTreeMap::new(), AnomalyCounts::new());
    let mut claims = Vec::new();
    for of_claim in transposed(of_parts) {
        let (claim, beside) = decide(&whole, &tally, of_claim);
        merge_counts(&mut counted, &beside.counted);
        lost.insert(claim.claim.clone(), beside.losses);
        claims.push(claim);
    }
    let coverage = coverage::floors(evidence, &tally);
    let metrics = metrics::of(evidence, &tally, lost, counted);
    let without = tally.missing.iter().map(|(_, what)| what.clone());
    let missing = evidence.incomplete.iter().cloned().chain(without).collect();
    let judged = Judged { evidence, tally: &tally, claims: &claims, coverage: &coverage, missing };
    let (validity, reason) = reason::decide(&judged);
    let (mut anomalies, mut permitted) = (AnomalyCounts::new(), AnomalyCounts::new());
    for claim in &claims {
        merge_counts(&mut anomalies, &claim.anomalies);
        merge_counts(&mut permitted, &claim.permitted);
    }
    let mut verdict = Verdict {
        format: Verdict::FORMAT,
        verdict: validity,
        exit: validity.exit(),
        reason,
        anomalies,
        permitted,
        metrics,
        counts: tally.counts,
        claims,
        faults: evidence.outcome.as_ref().map_or_else(Vec::new, |outcome| outcome.faults.clone()),
        coverage,
        assertions: Vec::new(),
        notes: tally.notes,
        reproduce: evidence.manifest.as_ref().and_then(|manifest| manifest.reproduce.clone()),
    };
    assertions::judge(&mut verdict, evidence, options);
    verdict
}

/// Adds up what was counted in the parts; what concerns the whole is the same in all of them.
fn add(tallies: Vec<Tally>) -> Tally {
    let keys = tallies.iter().map(|tally| tally.keys.len()).sum();
    let mut of_parts: Vec<_> = tallies.iter().map(|tally| tally.keys.clone().into_iter()).collect();
    let parts = of_parts.len();
    let keys = (0..keys).filter_map(|key| of_parts[key % parts].next()).collect();
    let sum = tallies.into_iter().reduce(|mut sum, tally| {
        // A part file may say anything.
        let counted = [
            (&mut sum.counts.sent, tally.counts.sent),
            (&mut sum.counts.acknowledged, tally.counts.acknowledged),
            (&mut sum.counts.read, tally.counts.read),
            (&mut sum.ok_read, tally.ok_read),
        ];
        counted.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        sum.sent_by_acks = add_by_acks(&sum.sent_by_acks, &tally.sent_by_acks);
        sum.acknowledged_by_acks =
            add_by_acks(&sum.acknowledged_by_acks, &tally.acknowledged_by_acks);
        sum.measured = take(&mut sum.measured).and(tally.measured);
        sum.active = sum.active.and(tally.active);
        sum.missing.extend(tally.missing);
        sum
    });
    let mut sum = sum.expect("a history has at least one part");
    sum.missing.sort_unstable();
    Tally { keys, ..sum }
}

fn add_by_acks(one: &[(Acks, u64)], other: &[(Acks, u64)]) -> Vec<(Acks, u64)> {
    let mut sum: BTreeMap<Acks, u64> = BTreeMap::new();
    for (acks, count) in one.iter().chain(other) {
        let counted = sum.entry(*acks).or_default();
        *counted = counted.saturating_add(*count);
    }
    sum.into_iter().collect()
}

/// For each claim what all parts found.
fn transposed(of_parts: Vec<Vec<ClaimOfPart>>) -> Vec<Vec<ClaimOfPart>> {
    let claims = of_parts.first().map_or(0, Vec::len);
    let mut of_parts: Vec<_> = of_parts.into_iter().map(Vec::into_iter).collect();
    (0..claims).map(|_| of_parts.iter_mut().filter_map(Iterator::next).collect()).collect()
}

/// What a claim measured beside its anomalies.
#[derive(Default)]
pub(crate) struct Beside {
    /// How much was lost to what.
    losses: Losses,
    /// What else it counted.
    counted: AnomalyCounts,
}

/// One claim of all parts, and what it measured where it was judged.
pub(crate) fn decide(
    whole: &Whole<'_>,
    tally: &Tally,
    of_parts: Vec<ClaimOfPart>,
) -> (ClaimVerdict, Beside) {
    let name = of_parts.first().map(|part| part.name.clone()).unwrap_or_default();
    if let Some(unfit) = &tally.unfit {
        let why = format!("the history is unfit: {unfit}");
        return (undecided(&name, why), Beside::default());
    }
    let folded = match of_parts.iter().any(|part| part.crashed) {
        true => None,
        false => catch_unwind(AssertUnwindSafe(|| fold(whole, &name, of_parts))).ok(),
    };
    match folded {
        Some(mut findings) => {
            let (losses, counted) = (take(&mut findings.losses), take(&mut findings.measured));
            (claim_verdict(&name, findings), Beside { losses, counted })
        }
        None => (undecided(&name, "the claim itself crashed".to_owned()), Beside::default()),
    }
}

/// Merges what a claim found of the run and of each key, in the order of the keys, and lets it
/// judge what was gathered.
fn fold(whole: &Whole<'_>, name: &str, of_parts: Vec<ClaimOfPart>) -> Findings {
    let (mut found, mut facts) = (Vec::new(), Vec::new());
    for part in of_parts {
        found.extend(part.findings);
        facts.extend(part.facts);
    }
    found.sort_by_key(|(of, _)| *of);
    let mut findings = Findings::default();
    for (_, of_key) in found {
        findings.merge(of_key);
    }
    if let Some(Judge::Across(across)) = claim::entry(name).map(|entry| entry.judge) {
        (across.judge)(whole, facts, &mut findings);
    }
    findings
}

fn claim_verdict(name: &str, findings: Findings) -> ClaimVerdict {
    let mut verdict = undecided(name, String::new());
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

fn undecided(name: &str, why: String) -> ClaimVerdict {
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
