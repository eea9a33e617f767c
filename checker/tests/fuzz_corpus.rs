//! What fuzzing found is replayed: each input of `testdata/fuzz` through the target that it is for.

#[path = "../fuzz/src/target/mod.rs"]
mod target;

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use target::TARGETS;

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|said| panic!("{folder:?}: {said}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fuzz")
}

#[test]
fn every_input_is_borne() {
    let mut failed = Vec::new();
    for (name, run) in TARGETS {
        let inputs = listed(&corpus().join(name));
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for input in inputs {
            let bytes = fs::read(&input).expect("an input can be read");
            if catch_unwind(|| run(&bytes)).is_err() {
                failed.push(input);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_folder_of_inputs_is_of_a_target() {
    let known: Vec<PathBuf> = TARGETS.iter().map(|(name, _)| corpus().join(name)).collect();
    assert_eq!(listed(&corpus()), known);
}
