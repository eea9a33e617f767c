//! Runs the cases of `testdata/`: small histories in a short notation, with the verdict they get.
//!
//! `UPDATE=1` rewrites the verdicts; look at the difference before you keep it. The notation is
//! explained in `script/parse.rs`.

mod script;

use std::{fs, path::PathBuf};

use highwater_checker::claim;

fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(testdata()).expect("testdata can be listed");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn every_case_gets_its_verdict() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        let judged =
            script::judge_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if judged == text {
            continue;
        }
        if update {
            fs::write(&file, judged).expect("a case file can be written");
        } else {
            wrong.push(format!("{}:\n{}", file.display(), script::difference(&text, &judged)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_claim_has_an_accepted_and_a_rejected_case() {
    for (name, _, entry) in claim::TABLE {
        let file = testdata().join(format!("claim_{}.txt", name.replace('-', "_")));
        let text =
            fs::read_to_string(&file).unwrap_or_else(|_| panic!("{} is missing", file.display()));
        let cases = script::cases(&text);
        assert!(cases.iter().any(|case| case.verdict.starts_with("valid")), "{name} accepts");
        for anomaly in entry.anomalies {
            let found = |line: &str| {
                let line = line.strip_prefix("permitted ").unwrap_or(line);
                line.split(' ').next() == Some(anomaly)
            };
            let seen = cases.iter().any(|case| case.verdict.lines().any(found));
            assert!(seen, "{name} shows {anomaly}");
        }
    }
}
