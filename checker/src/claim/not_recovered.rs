//! Once all faults are healed, the cluster serves every partition again within its time limits.

use highwater_history::{
    Key, TimeNs,
    outcome::{LagWindow, Limit, Missing, Outcome, Recovery},
    verdict::Finding,
};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    view::{KeyView, RunView},
};

const NS_PER_MS: TimeNs = 1_000_000;

/// Counts conditions of recovery that were not met, and limits of the user that were passed.
pub static ENTRY: Entry = Entry {
    rules: &[81, 82],
    clauses: &[],
    evidence: &["D13"],
    anomalies: &["not-recovered", "too-slow-recovery"],
    needs: &[Need::Outcome],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

/// What cannot be decided, and what concerns no key that the history names.
fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    let Some(outcome) = &run.evidence.outcome else {
        if !run.evidence.is_bare() {
            findings.undecided("the run was cut short before recovery could be seen".to_owned());
        }
        return;
    };
    match &outcome.recovery {
        Some(recovery) => could_not_tell(outcome, recovery, findings),
        None => findings.undecided("nobody looked whether the cluster recovered".to_owned()),
    }
    for limit in passed_limits(outcome) {
        if let Some(why) = lagged_at(outcome, limit) {
            findings.undecided(why);
        }
    }
    let is_nobodys = |key: Option<&Key>| key.is_none_or(|key| !run.index.ids.contains_key(key));
    judge(run, None, is_nobodys, findings);
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    judge(view.run, Some(view), |key| key == Some(&view.key.key), findings);
}

/// Conditions and limits of those keys that are asked for.
fn judge(
    run: &RunView<'_>,
    view: Option<&KeyView<'_>>,
    is_asked: impl Fn(Option<&Key>) -> bool,
    findings: &mut Findings,
) {
    let Some(outcome) = &run.evidence.outcome else { return };
    let failed = outcome.recovery.iter().filter(|recovery| !recovery.recovered);
    for recovery in failed.filter(|recovery| lagged_after(outcome, recovery).is_none()) {
        for missing in recovery.missing.iter().filter(|of| is_asked(of.key.as_ref())) {
            let permitted = view.and_then(|view| view.nobody_may_lead(recovery.ended_at));
            let ruling = permitted.map_or(Ruling::Forbidden, Ruling::Permitted);
            findings.rule("not-recovered", ruling, || not_met(run, recovery, missing));
        }
    }
    let limits = passed_limits(outcome).filter(|limit| is_asked(limit.key.as_ref()));
    for limit in limits.filter(|limit| lagged_at(outcome, limit).is_none()) {
        findings.violation("too-slow-recovery", || Finding {
            key: limit.key.clone(),
            rule: 82,
            evidence: "D13".to_owned(),
            events: view.map_or_else(Vec::new, |view| limit_events(view, limit)),
            why: passed(limit),
            ..Finding::default()
        });
    }
}

fn passed_limits(outcome: &Outcome) -> impl Iterator<Item = &Limit> {
    outcome.limits.iter().filter(|limit| limit.took_ms > limit.limit_ms)
}

fn lagged_at(outcome: &Outcome, limit: &Limit) -> Option<String> {
    let over_ns = ms(limit.took_ms.saturating_sub(limit.limit_ms));
    lagged(outcome, (limit.from, limit.to), over_ns)
}

fn lagged_after(outcome: &Outcome, recovery: &Recovery) -> Option<String> {
    let took_ns = recovery.ended_at.saturating_sub(recovery.healed_at);
    let over_ns = took_ns.saturating_sub(ms(recovery.limit_ms));
    lagged(outcome, (recovery.healed_at, recovery.ended_at), over_ns)
}

fn could_not_tell(outcome: &Outcome, recovery: &Recovery, findings: &mut Findings) {
    if recovery.recovered {
        return;
    }
    if let Some(why) = lagged_after(outcome, recovery) {
        findings.undecided(why);
    } else if recovery.missing.is_empty() {
        findings.undecided("recovery failed without saying what was missing".to_owned());
    }
}

fn not_met(run: &RunView<'_>, recovery: &Recovery, missing: &Missing) -> Finding {
    Finding {
        key: missing.key.clone(),
        rule: 81,
        evidence: "D13".to_owned(),
        why: format!(
            "{} ms after the last heal, {}: {}{}",
            recovery.limit_ms,
            missing.condition,
            missing.seen,
            unrest(run)
        ),
        ..Finding::default()
    }
}

/// A limit that was passed: by what, for how long, and when.
fn passed(limit: &Limit) -> String {
    let Limit { name, key, limit_ms, took_ms, from, to } = limit;
    let what = match key {
        Some(key) => format!("no send to {key} was acknowledged for {took_ms} ms"),
        None => format!("{took_ms} ms"),
    };
    // Older programs did not say when.
    let when = if *to == TimeNs::MAX {
        String::new()
    } else {
        format!(", from {} s to {} s of the run", seconds(*from), seconds(*to))
    };
    format!("{name}: {what}{when}; the limit is {limit_ms} ms")
}

fn seconds(ns: TimeNs) -> String {
    let ms = ns / NS_PER_MS;
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

/// The invocation with which a key began to wait, and the completion that ended it.
fn limit_events(view: &KeyView<'_>, limit: &Limit) -> Vec<u64> {
    let ops: Vec<_> = view.key.sends.iter().filter_map(|record| view.sender(*record)).collect();
    let begun = ops.iter().find(|op| op.invoked_at == limit.from).map(|op| op.invoked);
    let ended = ops.iter().find(|op| op.completed_at == limit.to).and_then(|op| op.completion());
    begun.into_iter().chain(ended).collect()
}

/// How far the metadata quorum's epoch rose, where it did: controllers that resign again and again
/// recover nothing.
fn unrest(run: &RunView<'_>) -> String {
    let records = &run.evidence.metadata;
    match (records.first(), records.last()) {
        (Some(first), Some(last)) if first.epoch < last.epoch => format!(
            "; the metadata quorum went from epoch {} to {} during the run",
            first.epoch, last.epoch
        ),
        _ => String::new(),
    }
}

/// While the harness itself was late, nobody can tell the cluster's slowness from its own: time
/// over the limit counts only as far as the lateness does not explain it.
fn lagged(outcome: &Outcome, (from, to): (TimeNs, TimeNs), over_ns: TimeNs) -> Option<String> {
    let within = |lag: &LagWindow| lag.to.min(to).saturating_sub(lag.from.max(from));
    let late_ns: TimeNs = outcome.lag_windows.iter().map(within).sum();
    let explains = late_ns > 0 && over_ns <= late_ns;
    explains.then(|| format!("the harness itself was {} ms late then", late_ns / NS_PER_MS))
}

fn ms(milliseconds: u64) -> TimeNs {
    milliseconds.saturating_mul(NS_PER_MS)
}

#[cfg(test)]
mod tests {
    use highwater_history::{
        Event,
        outcome::{Ended, LagWindow, Limit, Outcome, Recovery},
        verdict::Finding,
    };

    use crate::{Evidence, Options, check};

    const MS: u64 = super::NS_PER_MS;

    /// What is found where sends of `t-0` began at 100 ms (twice) and one was acknowledged at 350.
    fn found(key: Option<&str>, to: u64) -> Finding {
        let event = |(index, at, process, kind): (u64, u64, u64, &str)| -> Event {
            let time = at * MS;
            let text = format!(
                r#"{{"index":{index},"time":{time},"process":{process},"type":"{kind}","f":"send",
                "value":[["send","t-0",{process}]]}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let events = [(0, 100, 1, "invoke"), (1, 120, 2, "invoke"), (2, 350, 2, "ok")].map(event);
        let mut evidence = Evidence::of_events(events.to_vec());
        let mut outcome = Outcome::new(Ended::Complete, 500 * MS);
        outcome.recovery = Some(Recovery {
            recovered: true,
            healed_at: 0,
            ended_at: 0,
            limit_ms: 1,
            missing: Vec::new(),
        });
        let (name, key) = ("max-unavailable".to_owned(), key.map(Into::into));
        outcome.limits = vec![Limit { name, key, limit_ms: 1, took_ms: 250, from: 100 * MS, to }];
        evidence.outcome = Some(outcome);
        let verdict = check(&evidence, &Options::default()).unwrap();
        let mut claims = verdict.claims.into_iter();
        claims.find(|claim| claim.claim == "not-recovered").unwrap().findings.remove(0)
    }

    #[test]
    fn a_limit_that_was_passed_says_at_which_key_and_when() {
        let finding = found(Some("t-0"), 350 * MS);
        assert_eq!((finding.key, finding.events), (Some("t-0".into()), vec![0, 2]));
        assert_eq!(
            finding.why,
            "max-unavailable: no send to t-0 was acknowledged for 250 ms, from 0.100 s to 0.350 s \
             of the run; the limit is 1 ms"
        );
    }

    #[test]
    fn a_run_that_ended_within_the_limit_is_not_excused_by_lateness_that_was_not() {
        let mut outcome = Outcome::new(Ended::Interrupted, 0);
        let recovery = Recovery {
            recovered: false,
            healed_at: 0,
            ended_at: MS,
            limit_ms: 1,
            missing: Vec::new(),
        };
        assert_eq!(super::lagged_after(&outcome, &recovery), None);
        outcome.lag_windows = vec![LagWindow { from: 0, to: 1, lag: 1 }];
        assert!(super::lagged_after(&outcome, &recovery).is_some());
    }

    #[test]
    fn a_limit_of_an_older_program_says_what_it_knows() {
        let finding = found(None, u64::MAX);
        assert_eq!((finding.key, finding.events), (None, vec![]));
        assert_eq!(finding.why, "max-unavailable: 250 ms; the limit is 1 ms");
    }
}
