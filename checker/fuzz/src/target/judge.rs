//! A history of JSON lines is judged: without a crash, and alike in every format and by parts.

use highwater_checker::{
    Evidence, Options, Verdict, check,
    claim::TABLE,
    evidence::Instead,
    explain::explain,
    memory::check_within,
    shard::{Shard, merge},
    text,
    what_if::what_if,
};
use highwater_history::{reader::HistoryFile, verdict::Judgement};

use super::{folder::Folder, history};

/// Judges a history.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let file: HistoryFile = folder.write("h.jsonl", bytes).as_path().into();
    every_way(&folder, &file);
}

/// Judges a history in every way that there is.
pub fn every_way(folder: &Folder, file: &HistoryFile) {
    let told = history::read(file);
    let verdict = judged(file);
    if told.end.is_err() {
        // It may be unfit before it is broken.
        return;
    }
    let verdict = verdict.expect("what can be read is judged");
    if told.events.is_empty() {
        // Blocks keep the lines of events: without any, a history is missing from line 1 on.
        return;
    }
    let binary = history::converted(file, &told, &folder.file("again.hwh"));
    alike(&judged(&binary), &Ok(verdict.clone()));
    // A header is no line of what it is converted to.
    let lines = history::converted(file, &told, &folder.file("again.jsonl"));
    let edn = history::converted(file, &told, &folder.file("again.edn"));
    alike(&judged(&edn), &judged(&lines));
    by_parts(folder, file, &verdict);
    explained(file, &verdict);
}

/// The verdict on a history alone, or why there is none.
pub fn judged(file: &HistoryFile) -> Result<Verdict, String> {
    let verdict = check(&evidence(file), &Options::default()).map_err(|error| error.to_string());
    verdict.inspect(no_claim_crashed)
}

fn evidence(file: &HistoryFile) -> Evidence {
    Evidence::load_file(file.clone(), &Instead::default()).expect("nothing is read yet")
}

/// A claim's panic is its own, and a fault of ours all the same.
pub fn no_claim_crashed(verdict: &Verdict) {
    for claim in &verdict.claims {
        let crashed = claim.reason.as_deref().is_some_and(|why| why.contains("crashed"));
        assert!(claim.verdict != Judgement::Unknown || !crashed, "{} crashed", claim.claim);
    }
    assert!(!text::of(verdict).is_empty());
}

/// Whether two verdicts are the same, to the byte; of errors only that there is one.
pub fn alike(one: &Result<Verdict, String>, other: &Result<Verdict, String>) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            let json = |verdict| serde_json::to_string(verdict).expect("a verdict is JSON");
            assert_eq!(json(one), json(other));
        }
        _ => assert_eq!(one.is_ok(), other.is_ok(), "{one:?} {other:?}"),
    }
}

fn by_parts(folder: &Folder, file: &HistoryFile, verdict: &Verdict) {
    let options = Options::default();
    let parts = [1, 0].map(|nth| {
        let part = format!("{nth}/2").parse().expect("a part of two");
        let shard = Shard::judge(&evidence(file), &options, part).expect("it was judged before");
        let saved = folder.file(&format!("{nth}.json"));
        shard.save(&saved).expect("a part can be written");
        (saved.clone(), Shard::load(&saved).expect("a part can be read"))
    });
    let merged = merge(parts.into()).expect("these are all parts");
    alike(&Ok(merged), &Ok(verdict.clone()));
    let memory = "1GiB".parse().expect("so much memory");
    let within = check_within(&mut evidence(file), &options, memory);
    alike(&within.map_err(|error| error.to_string()), &Ok(verdict.clone()));
}

/// Findings that are explained of one history.
const EXPLAINED: usize = 2;

fn explained(file: &HistoryFile, verdict: &Verdict) {
    let options = Options::default();
    for (number, ..) in verdict.numbered().take(EXPLAINED) {
        let explained = explain(&mut evidence(file), &options, verdict, number);
        explained.expect("what was found can be explained").text();
    }
    let (again, told) = what_if(&evidence(file), &options).expect("it was judged before");
    alike(&Ok(again), &Ok(verdict.clone()));
    told.text();
}

/// All claims, whatever a manifest names.
pub fn all_claims() -> Options {
    let claims = TABLE.iter().map(|(name, ..)| (*name).to_owned()).collect();
    Options { claims: Some(claims), ..Options::default() }
}
