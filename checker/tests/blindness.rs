//! Real runs are judged as they were, and one anomaly put into each is found: that one, no other.
//!
//! A run is a folder in `testdata/corpus/`, or in the folder that `CORPUS` names; whatever lies
//! there is tried.

mod inject;

use std::{collections::BTreeMap, fs, path::PathBuf};

use highwater_checker::{Options, check};
use highwater_history::verdict::Validity;
use inject::{Counts, INJECTIONS, Run};

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

#[test]
fn every_injected_anomaly_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    let mut tried: BTreeMap<&str, u64> = BTreeMap::new();
    for folder in corpus() {
        for (name, inject) in INJECTIONS {
            let mut run = Run::load(&folder);
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
