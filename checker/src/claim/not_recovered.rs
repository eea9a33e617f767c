//! Once all faults are healed, the cluster serves every partition again within its time limits.

use highwater_history::{
    TimeNs,
    outcome::{Outcome, Recovery},
    verdict::Finding,
};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::Findings,
    view::{KeyView, RunView},
};

/// Counts conditions of recovery that were not met, and limits of the user that were passed.
pub static ENTRY: Entry = Entry {
    rules: &[81, 82],
    evidence: &["D13"],
    anomalies: &["not-recovered", "too-slow-recovery"],
    needs: &[Need::Outcome],
    decides: Decides::AtTheEnd,
    judge: Judge::Run(judge),
};

fn judge(run: &RunView<'_>, _: &[KeyView<'_>], findings: &mut Findings) {
    let Some(outcome) = &run.evidence.outcome else {
        if !run.evidence.is_bare() {
            findings.undecided("the run was cut short before recovery could be seen".to_owned());
        }
        return;
    };
    match &outcome.recovery {
        Some(recovery) => judge_recovery(outcome, recovery, findings),
        None => findings.undecided("nobody looked whether the cluster recovered".to_owned()),
    }
    for limit in outcome.limits.iter().filter(|limit| limit.took_ms > limit.limit_ms) {
        let (from, to) = measured(outcome, &limit.name);
        if let Some(why) = lagged(outcome, from, to) {
            findings.undecided(why);
            continue;
        }
        findings.violation("too-slow-recovery", || Finding {
            rule: 82,
            evidence: "D13".to_owned(),
            why: format!("{}: {} ms, limit {} ms", limit.name, limit.took_ms, limit.limit_ms),
            ..Finding::default()
        });
    }
}

fn judge_recovery(outcome: &Outcome, recovery: &Recovery, findings: &mut Findings) {
    if recovery.recovered {
        return;
    }
    if let Some(why) = lagged(outcome, recovery.healed_at, recovery.ended_at) {
        findings.undecided(why);
        return;
    }
    if recovery.missing.is_empty() {
        findings.undecided("recovery failed without saying what was missing".to_owned());
    }
    for missing in &recovery.missing {
        findings.violation("not-recovered", || Finding {
            key: missing.key.clone(),
            rule: 81,
            evidence: "D13".to_owned(),
            why: format!(
                "{} ms after the last heal, {}: {}",
                recovery.limit_ms, missing.condition, missing.seen
            ),
            ..Finding::default()
        });
    }
}

/// The window in which a limit was measured: recovery for its own, else the whole run.
fn measured(outcome: &Outcome, limit: &str) -> (TimeNs, TimeNs) {
    match &outcome.recovery {
        Some(recovery) if limit == "max-recovery" => (recovery.healed_at, recovery.ended_at),
        _ => (0, outcome.at),
    }
}

/// While the harness itself was late, nobody can tell the cluster's slowness from its own.
fn lagged(outcome: &Outcome, from: TimeNs, to: TimeNs) -> Option<String> {
    let overlaps = outcome.lag_windows.iter().find(|lag| lag.from <= to && lag.to >= from);
    overlaps.map(|lag| format!("the harness itself was {} ms late then", lag.lag / 1_000_000))
}
