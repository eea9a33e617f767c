//! What the user limits stays within its limit.

use highwater_history::{outcome::LagWindow, span::Span, verdict::Finding};

use super::{Decides, Entry, Judge};
use crate::{
    finding::{Findings, Ruling},
    index::operations::Operation,
    measured::{Measured, Wait, healed_at},
    view::{KeyView, RunView},
};

/// Counts keys that acknowledged nothing for longer than was allowed or took longer to do so again
/// after the last fault, and keys whose records were read later. Without a limit nothing is judged.
pub static ENTRY: Entry = Entry {
    rules: &[81, 82],
    clauses: &[],
    evidence: &["D13"],
    anomalies: &["too-slow-recovery", "too-slow-read"],
    needs: &[],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    if run.limits.is_empty() {
        findings.not_applicable("nobody set a limit");
    }
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    let limits = view.run.limits;
    if limits.is_empty() {
        return;
    }
    let of_key = Measured::of_key(view, healed_at(view.run.index));
    let never =
        of_key.sends_never.map(|wait| (wait, "no send was acknowledged after the last fault"));
    let again = of_key.sends_again.map(|wait| (wait, "sends were acknowledged again"));
    let gap = of_key.unavailable.map(|wait| (wait, "no send was acknowledged"));
    let late = of_key.lag.map(|wait| (wait, "an acknowledged record was not read"));
    let unread = of_key.oldest_unread.map(|wait| (wait, "an acknowledged record was never read"));
    let passed = |wait: Option<(Wait, &'static str)>, limit: Option<Span>| {
        let limit = limit?;
        wait.filter(|(wait, _)| wait.ns() > limit.ns()).map(|(wait, what)| (wait, what, limit))
    };
    let recovery = passed(again, limits.recovery).or_else(|| passed(never, limits.recovery));
    let lag = passed(late, limits.lag).or_else(|| passed(unread, limits.lag));
    for (anomaly, passed) in [
        ("too-slow-recovery", passed(gap, limits.unavailable)),
        ("too-slow-recovery", recovery),
        ("too-slow-read", lag),
    ] {
        if let Some((wait, what, limit)) = passed {
            findings.rule(anomaly, ruling(view, wait, limit), || describe(view, wait, what, limit));
        }
    }
}

/// Where the harness itself was late, it may have seen the end of a wait later than it was.
fn ruling(view: &KeyView<'_>, wait: Wait, limit: Span) -> Ruling {
    let outcome = view.run.evidence.outcome.as_ref();
    let over = wait.ns().saturating_sub(limit.ns());
    let blurs = |window: &&LagWindow| {
        window.from <= wait.to && wait.from <= window.to && window.lag >= over
    };
    match outcome.and_then(|outcome| outcome.lag_windows.iter().find(blurs)) {
        Some(_) => {
            let key = &view.key.key;
            Ruling::Undecided(format!("{key}: the harness was late when a limit was passed"))
        }
        None => Ruling::Forbidden,
    }
}

fn describe(view: &KeyView<'_>, wait: Wait, what: &str, limit: Span) -> Finding {
    let ms = wait.ns() / 1_000_000;
    let why =
        format!("for {ms} ms, from {} to {} ns, {what}: {limit} are allowed", wait.from, wait.to);
    if let Some(record) = wait.value.and_then(|value| view.key.records.find(value)) {
        return view.finding(record, view.key.order.sole(record), 82, "D13", why);
    }
    let records = &view.key.records;
    let senders = view.key.sends.iter().filter_map(|record| records.sender(*record));
    let ends = senders
        .map(|op| view.op(op))
        .filter(|operation| operation.invoked_at == wait.from || operation.completed_at == wait.to);
    let mut events: Vec<u64> = ends.flat_map(Operation::events).collect();
    events.dedup();
    view.finding_at(None, 82, "D13", events, why)
}
