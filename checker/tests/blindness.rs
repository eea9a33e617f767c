//! Real runs are judged as they were, and one anomaly put into each is found: that one, no other.
//!
//! A run is a folder in `testdata/corpus/`, or in the folder that `CORPUS` names; whatever lies
//! there is tried.

mod explain;
mod inject;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use highwater_checker::{Evidence, Options, check};
use highwater_history::{Promise, verdict::Validity};
use inject::{Counts, INJECTIONS, Injection, Run};

fn corpus() -> Vec<PathBuf> {
    let own = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
    let folder = std::env::var_os("CORPUS").map_or_else(own, PathBuf::from);
    let entries = fs::read_dir(folder).expect("the corpus can be listed");
    let mut runs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    runs.sort();
    assert!(!runs.is_empty(), "a corpus has runs");
    runs
}

fn found(run: Run) -> (Validity, BTreeMap<String, u64>, String) {
    let verdict = check(&run.finish(), &Options::default()).expect("it is judged");
    let findings = verdict.claims.iter().flat_map(|claim| &claim.findings);
    let whys: Vec<_> = findings
        .filter(|finding| finding.clause.is_none())
        .map(|finding| format!("{}: {}", finding.anomaly, finding.why))
        .take(5)
        .collect();
    (verdict.verdict, verdict.anomalies, format!("{} [{}]", verdict.reason, whys.join("; ")))
}

#[test]
fn no_claim_cries_wolf() {
    for run in corpus() {
        let (validity, anomalies, why) = found(Run::load(&run));
        assert_eq!(validity, Validity::Valid, "{}: {why}", run.display());
        assert!(anomalies.is_empty(), "{}: {why}", run.display());
    }
}

/// Injections that an unclean election or a lost disk may excuse, so that they are not tried where
/// there is one: consumers may be set back then (c.3), and what a replica holds or tells afterwards
/// is no promise (c.1).
const EXCUSED: [&str; 6] = [
    "a consumer steps back",
    "a consumer skips",
    "a HW is above the LEO",
    "a HW stands still",
    "a member lacks what was acknowledged",
    "a stranger is in sync",
];

/// Whether the run allowed unclean elections or took a disk or the power.
fn is_excused(run: &Run) -> bool {
    let manifest = run.evidence.manifest.as_ref().expect("a manifest");
    let unclean = |of: &Promise| of.unclean_election == Some(true);
    let mut topics = manifest.promises.topics.values();
    let faults = &run.evidence.outcome.as_ref().expect("an outcome").faults;
    let costs_data = |kind: &str| ["power-loss", "wipe"].contains(&kind);
    topics.any(unclean) || faults.iter().any(|fault| costs_data(&fault.kind))
}

#[test]
fn every_injected_anomaly_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    let mut tried: BTreeMap<&str, u64> = BTreeMap::new();
    for folder in corpus() {
        for (name, inject) in INJECTIONS {
            let mut run = Run::load(&folder);
            if EXCUSED.contains(name) && is_excused(&run) {
                continue;
            }
            let Some(wanted) = inject(&mut run) else { continue };
            *tried.entry(name).or_default() += 1;
            let (_, anomalies, why) = found(run);
            let got: Counts = wanted
                .keys()
                .copied()
                .filter_map(|name| Some((name, *anomalies.get(name)?)))
                .collect();
            if got != wanted || anomalies.len() != wanted.len() {
                wrong.push(format!(
                    "{}: {name}: {anomalies:?}, not {wanted:?}: {why}",
                    folder.file_name().unwrap_or_default().to_string_lossy()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, _) in INJECTIONS {
        assert!(tried.contains_key(name), "{name}: no run of the corpus has a place for it");
    }
}

fn injected(folder: &Path, inject: Injection) -> Option<(Evidence, Options)> {
    let mut run = Run::load(folder);
    inject(&mut run)?;
    Some((run.finish(), Options::default()))
}

/// The least that shows it is told of every anomaly, of the evidence beside the history too.
#[test]
fn every_injected_anomaly_is_explained() {
    let folder = corpus().into_iter().find(|folder| folder.ends_with("node-calm"));
    let Some(folder) = folder else { return };
    let mut wrong = Vec::new();
    for (name, inject) in INJECTIONS {
        if injected(&folder, *inject).is_none() {
            continue;
        }
        let evidence = || injected(&folder, *inject).expect("it has a place for it");
        wrong.extend(
            explain::faults_of(evidence, 2).into_iter().map(|why| format!("{name}: {why}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
