//! Notes of a verdict: what was assumed, dropped, seen beside the claims, or is not judged.

use highwater_history::{Promise, manifest::Kind, outcome::Crash};

use crate::{
    claim::{self, Need},
    evidence::Evidence,
    index::Index,
    judge::{Options, without_repeats},
};

/// Every note; from `dropped_line` on the history is missing.
pub(crate) fn of(
    evidence: &Evidence,
    options: &Options,
    claims: &[String],
    index: &Index,
    dropped_line: Option<u64>,
) -> Vec<String> {
    let dropped = |line: u64| format!("history: what stood from line {line} on is missing");
    let mut notes: Vec<String> = dropped_line.map(dropped).into_iter().collect();
    notes.extend(evidence.notes.iter().cloned());
    notes.extend(index.notes.iter().map(|note| format!("history: {note}")));
    notes.extend(assumptions(evidence, options));
    notes.extend(left_out(evidence, options, claims));
    notes.extend(index.gap.map(gap));
    notes.extend(cannot_have(evidence, claims));
    notes.extend(evidence.outcome.iter().flat_map(|outcome| &outcome.crashes).map(crash));
    notes.extend(unknown_operations(index));
    notes
}

/// Claims that the manifest does not name, unless the user chose.
fn left_out(evidence: &Evidence, options: &Options, claims: &[String]) -> Option<String> {
    let all = claim::TABLE.iter().map(|(name, ..)| *name);
    let others: Vec<&str> = all.filter(|name| claims.iter().all(|known| known != name)).collect();
    let says = evidence.manifest.is_some() && options.claims.is_none() && !others.is_empty();
    says.then(|| {
        format!("not judged, since the manifest does not name them: {}", others.join(", "))
    })
}

fn gap((next, came): (u64, u64)) -> String {
    format!("the history's index goes from {next} to {came}: events may be missing")
}

fn assumptions(evidence: &Evidence, options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    if evidence.is_bare() {
        notes.push(
            "no manifest: where neither the history nor --promise says otherwise, every send is \
             assumed to have been promised acks=all, min.insync.replicas=2, clean elections, \
             idempotence and read_committed"
                .to_owned(),
        );
    } else if evidence.outcome.is_none() {
        notes.push("no outcome: the run was cut short".to_owned());
    }
    if options.promise != Promise::default() {
        let promise = serde_json::to_string(&options.promise).expect("a promise is plain JSON");
        notes.push(format!("promised by the user: {promise}"));
    }
    if let Some(claims) = &options.claims {
        notes.push(format!("judged these claims only: {}", without_repeats(claims).join(", ")));
    }
    notes
}

/// Evidence that the target cannot give, and the claims that look for it.
fn cannot_have<'a>(
    evidence: &'a Evidence,
    claims: &'a [String],
) -> impl Iterator<Item = String> + use<'a> {
    let kinds = [
        (Kind::Dumps, Need::Dumps, "dumps: the final read stands for the final log"),
        (Kind::Metadata, Need::Elections, "metadata log: samples alone tell of elections"),
    ];
    let kinds = kinds.into_iter().filter(|(kind, ..)| evidence.cannot_have(*kind));
    kinds.map(|(_, need, what)| {
        let looks = |name: &str| {
            let found = claim::TABLE.iter().find(|(known, ..)| *known == name);
            found.is_some_and(|(_, _, entry)| entry.needs.contains(&need))
        };
        let poorer: Vec<_> = claims.iter().map(String::as_str).filter(|name| looks(name)).collect();
        format!("the target gives no {what}; judged as far as that goes: {}", poorer.join(", "))
    })
}

fn crash(crash: &Crash) -> String {
    let Crash { node, incarnation, ended } = crash;
    format!(
        "node {node} ended by itself ({ended}); its output: nodes/{node}/stderr.{incarnation}.log"
    )
}

fn unknown_operations(index: &Index) -> impl Iterator<Item = String> {
    index.unknown_operations.iter().map(|(name, count)| {
        let operations = if *count == 1 { "operation" } else { "operations" };
        format!("{count} {operations} {name:?}: no claim knows what that is")
    })
}
