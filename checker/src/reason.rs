//! The verdict as a whole, and the one sentence that says why.

use highwater_history::verdict::{AnomalyCounts, Judgement, Validity};

use crate::{finding::merge_counts, merge::Judged};

/// Merges claims, floors and the fitness of the evidence.
pub(crate) fn decide(judged: &Judged<'_>) -> (Validity, String) {
    if let Some(unfit) = &judged.tally.unfit {
        return (Validity::Unknown, format!("the history cannot be judged: {unfit}"));
    }
    let parts =
        [cut_short(judged), claims(judged), incomplete(judged), activity(judged), floors(judged)];
    parts
        .into_iter()
        .flatten()
        .reduce(|worst, part| if part.0 > worst.0 { part } else { worst })
        .unwrap_or_else(|| (Validity::Valid, kept(judged)))
}

fn claims(judged: &Judged<'_>) -> Option<(Validity, String)> {
    let mut anomalies = AnomalyCounts::new();
    for claim in judged.claims {
        merge_counts(&mut anomalies, &claim.anomalies);
    }
    if !anomalies.is_empty() {
        let counts: Vec<_> = anomalies.iter().map(|(name, n)| format!("{n} {name}")).collect();
        return Some((Validity::Invalid, format!("promises were broken: {}", counts.join(", "))));
    }
    let undecided = judged.claims.iter().find(|claim| claim.verdict == Judgement::Unknown)?;
    let why = undecided.reason.as_deref().unwrap_or("no reason given");
    Some((Validity::Unknown, format!("{} could not be decided: {why}", undecided.claim)))
}

fn cut_short(judged: &Judged<'_>) -> Option<(Validity, String)> {
    use highwater_history::outcome::Ended;
    let unknown = |why: String| Some((Validity::Unknown, why));
    match (&judged.evidence.manifest, &judged.evidence.outcome) {
        (Some(_), None) => unknown("the run was cut short: there is no outcome.json".to_owned()),
        (_, Some(outcome)) if outcome.harness_failure.is_some() => {
            let why = outcome.harness_failure.as_deref().unwrap_or_default();
            unknown(format!("the harness failed: {why}"))
        }
        (_, Some(outcome)) if outcome.ended != Ended::Complete => {
            unknown("the run did not come to its planned end".to_owned())
        }
        _ => None,
    }
}

fn incomplete(judged: &Judged<'_>) -> Option<(Validity, String)> {
    let files = &judged.missing;
    let why = || (Validity::Unknown, format!("evidence is incomplete: {}", files.join(", ")));
    (!files.is_empty()).then(why)
}

fn activity(judged: &Judged<'_>) -> Option<(Validity, String)> {
    let vacuous = |what: &str| Some((Validity::Vacuous, format!("nothing was {what}")));
    if judged.tally.counts.acknowledged == 0 {
        return vacuous("acknowledged");
    }
    if judged.tally.ok_read == 0 { vacuous("read") } else { None }
}

fn floors(judged: &Judged<'_>) -> Option<(Validity, String)> {
    let missed: Vec<_> = judged
        .coverage
        .iter()
        .filter(|floor| floor.got < floor.wanted)
        .map(|floor| format!("{} {} of {}", floor.floor, floor.got, floor.wanted))
        .collect();
    if missed.is_empty() {
        return None;
    }
    Some((Validity::Vacuous, format!("too little happened: {}", missed.join(", "))))
}

fn kept(judged: &Judged<'_>) -> String {
    let counts = &judged.tally.counts;
    format!(
        "every promise was kept: {} records acknowledged, {} read, {} operations",
        counts.acknowledged, counts.read, counts.ops
    )
}
