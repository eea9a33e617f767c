//! From a judged run of a comparison to its figures.

use std::path::Path;

use highwater_checker::{
    Evidence, Options,
    evidence::Instead,
    look,
    view::{KeyView, RunView},
};
use highwater_history::{FormatError, Manifest, RunFolder, format::Document};
use highwater_reports::compare::{self, Cluster, Comparison, Figures};

use crate::{
    run::{Failure, setup::BadOption},
    steps::Span,
};

const NS_PER_MS: u64 = 1_000_000;

/// The schedules that a comparison runs, each for figures of its own.
pub(super) const FAULTY: &str = "compare";
pub(super) const DOWN: &str = "brokers-down";
pub(super) const CALM: &str = "calm";

/// The figures of a run of one of these schedules, by the view that its verdict was judged by.
///
/// # Errors
/// When the run folder cannot be read.
pub(super) fn figures(folder: &RunFolder, schedule: &str) -> Result<Figures, Failure> {
    match schedule {
        FAULTY => viewed(folder, |run, keys| Figures::Faulty(compare::faulty(run, keys))),
        DOWN => {
            let held_ns = held_ns(folder)?;
            viewed(folder, |run, keys| Figures::Down(compare::down(run, keys, held_ns)))
        }
        _ => {
            let rate = rate(folder)?;
            Ok(viewed(folder, |run, keys| compare::calm(folder, (run, keys), rate))??)
        }
    }
}

fn viewed<T>(
    folder: &RunFolder,
    figures: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
) -> Result<T, Failure> {
    let evidence: Result<Evidence, FormatError> =
        Evidence::load(folder.path(), &Instead::default());
    Ok(look(&evidence?, &Options::default(), figures)?)
}

/// How long its schedule leaves replicas down.
fn held_ns(folder: &RunFolder) -> Result<u64, Failure> {
    let manifest = Manifest::read(&folder.manifest_path())?;
    let mut steps = manifest.schedule["steps"].as_array().into_iter().flatten();
    let down = steps.find(|step| step["do"] == "power-loss");
    let held = down.and_then(|step| step["for"].as_str()?.parse::<Span>().ok());
    let missing = || Failure::Harness(format!("{}: no power-loss", folder.path().display()));
    held.map(|span| span.0 * NS_PER_MS).ok_or_else(missing)
}

/// How many sends a second were asked for.
fn rate(folder: &RunFolder) -> Result<u32, Failure> {
    let manifest = Manifest::read(&folder.manifest_path())?;
    let rate = manifest.workload.options.get("rate").and_then(serde_json::Value::as_u64);
    Ok(rate.and_then(|rate| u32::try_from(rate).ok()).unwrap_or(0))
}

/// The comparison in a folder, its runs measured again; they lie where it says, beside it.
///
/// # Errors
/// When there is none, or a run folder cannot be read.
pub(super) fn again(folder: &Path) -> Result<Comparison, Failure> {
    let path = folder.join("compare.json");
    if !path.is_file() {
        let folder = folder.display();
        let why = format!("--again {folder}: there is no compare.json; name a comparison's folder");
        return Err(BadOption(why).into());
    }
    let old = Comparison::read(&path)?;
    let mut clusters = Vec::new();
    for cluster in old.clusters {
        let mut measured = Vec::new();
        for run in cluster.runs {
            let figures = figures(&RunFolder::new(folder.join(&run.folder)), &run.schedule)?;
            measured.push((run, figures));
        }
        clusters.push(Cluster::of(cluster.differs, measured));
    }
    Ok(Comparison::of((old.target, old.command), old.shared, clusters))
}
