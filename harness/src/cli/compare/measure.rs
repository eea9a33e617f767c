//! From a judged run of a comparison to its figures.

use std::path::Path;

use highwater_checker::{Evidence, Options, check, evidence::Instead, look};
use highwater_history::{
    Manifest, RunFolder, Verdict,
    format::Document,
    outcome::Ended,
    verdict::{AnomalyCounts, Validity},
};
use highwater_reports::compare::{self, Cluster, ComparedRun, Comparison, Figures};

use crate::{
    run::{Failure, setup::BadOption},
    steps::Span,
};

const NS_PER_MS: u64 = 1_000_000;
/// The most that a reason lists.
const MOST_PARTS: usize = 3;

/// The schedules that a comparison runs, each for figures of its own.
pub(super) const FAULTY: &str = "compare";
pub(super) const DOWN: &str = "brokers-down";
pub(super) const CALM: &str = "calm";

/// A run as it counts: with its figures, or with why they are left out.
pub(super) type Measured = (ComparedRun, Option<Figures>);

/// A run by the evidence in its folder as it is now: judged unless its `verdict` is known, and
/// measured where its figures can be relied on. One that cannot be read is unknown.
pub(super) fn of(mut run: ComparedRun, folder: &RunFolder, verdict: Option<Verdict>) -> Measured {
    let (verdict, anomalies, figures) = judged(folder, &run.schedule, verdict)
        .unwrap_or_else(|why| (Validity::Unknown, AnomalyCounts::new(), Err(why.to_string())));
    (run.verdict, run.anomalies) = (verdict, anomalies);
    run.left_out = figures.as_ref().err().cloned();
    (run, figures.ok())
}

/// A verdict, its anomalies, and the figures or why there are none.
type Judged = (Validity, AnomalyCounts, Result<Figures, String>);

fn judged(folder: &RunFolder, schedule: &str, verdict: Option<Verdict>) -> Result<Judged, Failure> {
    let evidence = Evidence::load(folder.path(), &Instead::default())?;
    let verdict = match verdict {
        Some(verdict) => verdict,
        None => check(&evidence, &Options::default())?,
    };
    let Verdict { verdict, anomalies, reason, .. } = verdict;
    let Some(manifest) = &evidence.manifest else {
        let why = "there is no manifest.json".to_owned();
        return Ok((verdict.merge(Validity::Unknown), anomalies, Err(why)));
    };
    let figures = match unreliable(&evidence, verdict, reason) {
        Some(why) => Err(why),
        None => Ok(figures((&evidence, manifest), folder, schedule)?),
    };
    Ok((verdict, anomalies, figures))
}

/// Why the figures of a run cannot be relied on: what is missing would count as not lost.
fn unreliable(evidence: &Evidence, verdict: Validity, reason: String) -> Option<String> {
    match (verdict, &evidence.outcome) {
        (Validity::Unknown | Validity::Vacuous, _) => Some(shortened(&reason)),
        (_, None) => Some("there is no outcome.json".to_owned()),
        (_, Some(outcome)) if outcome.ended != Ended::Complete => {
            Some("the run did not come to its planned end".to_owned())
        }
        _ if !evidence.incomplete.is_empty() => {
            let files = evidence.incomplete.join(", ");
            Some(shortened(&format!("evidence is incomplete: {files}")))
        }
        _ => None,
    }
}

/// A reason of which a line of the page can hold all: one that lists files names the first.
fn shortened(reason: &str) -> String {
    let parts: Vec<&str> = reason.split(", ").collect();
    match parts.len() {
        0..=MOST_PARTS => reason.to_owned(),
        all => format!("{} and {} more", parts[..MOST_PARTS].join(", "), all - MOST_PARTS),
    }
}

/// The figures of a run of one of these schedules, by the view that its verdict was judged by.
fn figures(
    (evidence, manifest): (&Evidence, &Manifest),
    folder: &RunFolder,
    schedule: &str,
) -> Result<Figures, Failure> {
    let options = Options::default();
    Ok(match schedule {
        FAULTY => {
            look(evidence, &options, |run, keys| Figures::Faulty(compare::faulty(run, keys)))?
        }
        DOWN => {
            let held_ns = held_ns(folder, manifest)?;
            look(evidence, &options, |run, keys| Figures::Down(compare::down(run, keys, held_ns)))?
        }
        _ => {
            let rate = rate(manifest);
            look(evidence, &options, |run, keys| compare::calm(folder, (run, keys), rate))??
        }
    })
}

/// How long its schedule leaves replicas down.
fn held_ns(folder: &RunFolder, manifest: &Manifest) -> Result<u64, Failure> {
    let mut steps = manifest.schedule["steps"].as_array().into_iter().flatten();
    let down = steps.find(|step| step["do"] == "power-loss");
    let held = down.and_then(|step| step["for"].as_str()?.parse::<Span>().ok());
    let missing = || Failure::Harness(format!("{}: no power-loss", folder.path().display()));
    held.map(|span| span.0 * NS_PER_MS).ok_or_else(missing)
}

/// How many sends a second were asked for.
fn rate(manifest: &Manifest) -> u32 {
    let rate = manifest.workload.options.get("rate").and_then(serde_json::Value::as_u64);
    rate.and_then(|rate| u32::try_from(rate).ok()).unwrap_or(0)
}

/// The comparison in a folder, its runs judged and measured again; they lie where it says, beside
/// it.
///
/// # Errors
/// When there is none.
pub(super) fn again(folder: &Path) -> Result<Comparison, Failure> {
    let path = folder.join("compare.json");
    if !path.is_file() {
        let folder = folder.display();
        let why = format!("--again {folder}: there is no compare.json; name a comparison's folder");
        return Err(BadOption(why).into());
    }
    let old = Comparison::read(&path)?;
    let planned = old.planned;
    let clusters = old.clusters.into_iter().map(|cluster| {
        let runs = cluster.runs.into_iter();
        let anew = |run: ComparedRun| {
            let of_run = RunFolder::new(folder.join(&run.folder));
            of(run, &of_run, None)
        };
        Cluster::of(cluster.differs, runs.map(anew).collect())
    });
    let clusters = (clusters.collect(), planned);
    Ok(Comparison::of((old.target, old.command), old.shared, clusters))
}

#[cfg(test)]
mod tests {
    use highwater_history::Outcome;

    use super::*;

    fn why(evidence: &Evidence, verdict: Validity) -> Option<String> {
        unreliable(evidence, verdict, "too little happened".to_owned())
    }

    #[test]
    fn what_is_missing_would_count_as_not_lost() {
        let mut evidence =
            Evidence { outcome: Some(Outcome::new(Ended::Complete, 0)), ..Evidence::default() };
        for counts in [Validity::Valid, Validity::Invalid] {
            assert_eq!(why(&evidence, counts), None);
        }
        for fails in [Validity::Unknown, Validity::Vacuous] {
            assert_eq!(why(&evidence, fails).as_deref(), Some("too little happened"));
        }
        evidence.incomplete.push("dump 1-t-0".to_owned());
        let incomplete = "evidence is incomplete: dump 1-t-0";
        assert_eq!(why(&evidence, Validity::Invalid).as_deref(), Some(incomplete));
        evidence.outcome = None;
        let no_outcome = "there is no outcome.json";
        assert_eq!(why(&evidence, Validity::Invalid).as_deref(), Some(no_outcome));
    }

    #[test]
    fn a_long_list_is_cut() {
        assert_eq!(shortened("gone: a, b, c"), "gone: a, b, c");
        assert_eq!(shortened("gone: a, b, c, d, e"), "gone: a, b, c and 2 more");
    }
}
