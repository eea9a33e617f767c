//! Once all faults are healed, the cluster serves every partition again within its time limits.

use highwater_history::{
    TimeNs,
    outcome::{LagWindow, Outcome, Recovery},
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
    decides: Decides::AtTheEnd,
    judge: Judge::Run(judge),
};

fn judge(run: &RunView<'_>, keys: &[KeyView<'_>], findings: &mut Findings) {
    let Some(outcome) = &run.evidence.outcome else {
        if !run.evidence.is_bare() {
            findings.undecided("the run was cut short before recovery could be seen".to_owned());
        }
        return;
    };
    match &outcome.recovery {
        Some(recovery) => judge_recovery(run, (outcome, recovery), keys, findings),
        None => findings.undecided("nobody looked whether the cluster recovered".to_owned()),
    }
    for limit in outcome.limits.iter().filter(|limit| limit.took_ms > limit.limit_ms) {
        let over_ns = ms(limit.took_ms.saturating_sub(limit.limit_ms));
        if let Some(why) = lagged(outcome, (limit.from, limit.to), over_ns) {
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

fn judge_recovery(
    run: &RunView<'_>,
    (outcome, recovery): (&Outcome, &Recovery),
    keys: &[KeyView<'_>],
    findings: &mut Findings,
) {
    if recovery.recovered {
        return;
    }
    let took_ns = recovery.ended_at.saturating_sub(recovery.healed_at);
    let over_ns = took_ns.saturating_sub(ms(recovery.limit_ms));
    if let Some(why) = lagged(outcome, (recovery.healed_at, recovery.ended_at), over_ns) {
        findings.undecided(why);
        return;
    }
    if recovery.missing.is_empty() {
        findings.undecided("recovery failed without saying what was missing".to_owned());
    }
    for missing in &recovery.missing {
        let view = keys.iter().find(|view| missing.key.as_ref() == Some(&view.key.key));
        let permitted = view.and_then(|view| view.nobody_may_lead(recovery.ended_at));
        let ruling = permitted.map_or(Ruling::Forbidden, Ruling::Permitted);
        findings.rule("not-recovered", ruling, || Finding {
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
        });
    }
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
