//! What a what-if has to hold to: what it says is what `check` says by these promises, and nothing
//! less changes as much.

use highwater_checker::{
    Evidence, Options, check, claim,
    what_if::{Alternative, WhatIf, what_if},
};
use highwater_history::{Promise, Verdict, verdict::Judgement};

/// What is wrong with the what-if of a history; `evidence` gives it anew each time.
pub fn faults_of(evidence: &impl Fn() -> (Evidence, Options)) -> Vec<String> {
    let (whole, options) = evidence();
    let Ok((verdict, told)) = what_if(&whole, &options) else { return Vec::new() };
    let plain = check(&whole, &options).expect("it was judged");
    let mut faults = Vec::new();
    if verdict != plain {
        faults.push("the verdict is not that of check".to_owned());
    }
    let by = |promise: &Promise| {
        let options = Options { promise: promise.or(&options.promise), ..options.clone() };
        check(&whole, &options).expect("promises leave a history what it is")
    };
    let all: Vec<(Promise, Verdict)> =
        combinations(&told).into_iter().map(|promise| (promise.clone(), by(&promise))).collect();
    faults.extend(faults_about(&told.whole, None, &all));
    for of in &told.anomalies {
        faults.extend(faults_about(&of.alternatives, Some(&of.anomaly), &all));
        if plain.anomalies.get(&of.anomaly) != Some(&of.count) {
            faults.push(format!("{} has another count", of.anomaly));
        }
    }
    faults
}

/// Whether the alternatives are the least of all combinations that are legal.
fn faults_about(
    alternatives: &[Alternative],
    about: Option<&str>,
    all: &[(Promise, Verdict)],
) -> Vec<String> {
    let (_, promised) = all.first().expect("what was promised is one of them");
    if about.is_none() && is_legal(promised, None) {
        return alternatives.iter().map(|one| format!("nothing has to change, {one:?}")).collect();
    }
    let legal: Vec<&(Promise, Verdict)> =
        all.iter().filter(|(_, verdict)| is_legal(verdict, about)).collect();
    let least = legal.iter().filter(|(promise, _)| {
        !legal.iter().any(|(other, _)| other != promise && weakens(promise, other))
    });
    let mut wanted: Vec<&Promise> = least.map(|(promise, _)| promise).collect();
    let mut faults = Vec::new();
    for one in alternatives {
        match wanted.iter().position(|promise| **promise == one.promises) {
            Some(at) => drop(wanted.remove(at)),
            None => faults.push(format!("{about:?} is not the least: {one:?}")),
        }
        let verdict = legal.iter().find(|(promise, _)| *promise == one.promises);
        if verdict.is_none_or(|(_, verdict)| {
            (verdict.verdict, &verdict.reason) != (one.verdict, &one.reason)
        }) {
            faults.push(format!("{about:?}: check says otherwise than {one:?}"));
        }
    }
    faults.extend(wanted.into_iter().map(|promise| format!("{about:?} lacks {promise:?}")));
    faults
}

/// Whether nothing is a violation, and nothing about it undecided.
fn is_legal(verdict: &Verdict, about: Option<&str>) -> bool {
    let violated = match about {
        None => !verdict.anomalies.is_empty(),
        Some(anomaly) => verdict.anomalies.contains_key(anomaly),
    };
    let undecided = verdict.claims.iter().any(|claim| {
        let (.., entry) = claim::TABLE.iter().find(|(name, ..)| *name == claim.claim).expect("one");
        about.is_none_or(|anomaly| entry.anomalies.contains(&anomaly))
            && claim.reason.is_some()
            && claim.verdict != Judgement::NotApplicable
    });
    !violated && !undecided
}

/// Every combination of settings as they are or weaker, what was promised first.
fn combinations(told: &WhatIf) -> Vec<Promise> {
    let promised = serde_json::to_value(&told.promised).expect("a promise is JSON");
    let at = |name: &str| promised.get(name).map_or("none".to_owned(), |v| v.to_string());
    let mut settings: Vec<Vec<&str>> = vec![match at("acks").as_str() {
        "\"all\"" => vec!["acks=1", "acks=0"],
        "\"1\"" => vec!["acks=0"],
        _ => vec![],
    }];
    for (name, strong, weak) in [
        ("enable.idempotence", "true", "enable.idempotence=false"),
        ("isolation.level", "\"read_committed\"", "isolation.level=read_uncommitted"),
        ("unclean.leader.election.enable", "false", "unclean.leader.election.enable=true"),
        ("flush.messages", "1", "flush.messages=9223372036854775807"),
    ] {
        settings.push(if at(name) == strong { vec![weak] } else { vec![] });
    }
    settings.push(match at("min.insync.replicas").as_str() {
        "3" => vec!["min.insync.replicas=2", "min.insync.replicas=1"],
        "2" => vec!["min.insync.replicas=1"],
        _ => vec![],
    });
    let mut all = vec![Promise::default()];
    for weaker in settings {
        let with = |promise: &Promise, text: &str| {
            let mut promise = promise.clone();
            promise.set(text).expect("it can be promised");
            promise
        };
        let more: Vec<Promise> =
            weaker.iter().flat_map(|text| all.iter().map(move |known| with(known, text))).collect();
        all.extend(more);
    }
    all
}

/// Whether one promise changes all that another changes, and each of it as far or farther.
fn weakens(one: &Promise, other: &Promise) -> bool {
    let [one, other] = [one, other].map(|p| serde_json::to_value(p).expect("a promise is JSON"));
    let rank = |value: &serde_json::Value| match value.to_string().as_str() {
        "\"0\"" => 2,
        "\"1\"" => 1,
        number => -number.parse::<i64>().unwrap_or(0).min(9),
    };
    let other = other.as_object().expect("an object");
    other.iter().all(|(name, value)| one.get(name).is_some_and(|known| rank(known) >= rank(value)))
}
