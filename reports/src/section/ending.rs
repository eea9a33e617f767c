//! The end of the run: recovery, conditions, assertions, second witness, where partitions stood.

use highwater_history::{
    NodeId, Offset, Outcome,
    outcome::{Assertion, Ended, FinalPartition, Recovery},
};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{facts, left_out, table},
    text::{count, counted, duration, instant},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 90, title: "End of run", render };

/// The most partitions that are listed.
const PARTITIONS: usize = 100;
/// The most entries of any other list.
const LISTED: usize = 50;
const NS_PER_MS: u64 = 1_000_000;

fn render(run: &Run) -> Option<Markup> {
    let Some(outcome) = &run.outcome else {
        return Some(html! {
            h2 { "End of run" }
            p { "The run was cut short: it left no outcome, so what it shows is at best unknown." }
        });
    };
    Some(html! {
        h2 { "End of run" }
        (ended(outcome))
        @if let Some(recovery) = &outcome.recovery { (missing(recovery)) }
        (assertions(&run.verdict.assertions))
        (conditions(outcome))
        (disagreements(outcome))
        (partitions(outcome))
    })
}

fn ended(outcome: &Outcome) -> Markup {
    let how = match outcome.ended {
        Ended::Complete => "complete: all that was planned was done, final reads and dumps too",
        Ended::Interrupted => "interrupted",
        Ended::Failed => "the harness failed",
    };
    let witness = outcome.witness.as_ref().map(|witness| {
        let disagreements = counted(witness.disagreements.len() as u64, "disagreement");
        format!(
            "{} completions compared with the proxies, {disagreements}",
            count(witness.compared)
        )
    });
    let limits = outcome.limits.iter().map(|limit| {
        let [took, allowed] = [limit.took_ms, limit.limit_ms].map(|ms| duration(ms * NS_PER_MS));
        let at = limit.key.as_ref().map(|key| format!(" at {key}")).unwrap_or_default();
        format!("{}{at}: took {took} of {allowed}", limit.name)
    });
    let limits: Vec<String> = limits.collect();
    facts(&[
        ("Ended", Some(how.to_owned())),
        ("Harness failure", outcome.harness_failure.clone()),
        ("Recovery", outcome.recovery.as_ref().map(recovery_text)),
        ("Limits", (!limits.is_empty()).then(|| limits.join("; "))),
        ("Second witness", witness),
    ])
}

fn recovery_text(recovery: &Recovery) -> String {
    let took = duration(recovery.ended_at.saturating_sub(recovery.healed_at));
    let limit = duration(recovery.limit_ms * NS_PER_MS);
    let healed = instant(recovery.healed_at);
    match recovery.recovered {
        true => format!("recovered {took} after the last heal at {healed} (limit {limit})"),
        false => format!("not recovered {took} after the last heal at {healed} (limit {limit})"),
    }
}

fn missing(recovery: &Recovery) -> Markup {
    if recovery.missing.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for one in recovery.missing.iter().take(LISTED) {
            tr {
                td { @if let Some(key) = &one.key { (key) } @else { "cluster" } }
                td { (one.condition) }
                td { (one.seen) }
            }
        }
    };
    let heads = [("", "Where"), ("", "Condition"), ("", "Seen instead")];
    table("", "Conditions of recovery that were not met", &heads, &rows)
}

fn assertions(assertions: &[Assertion]) -> Markup {
    if assertions.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for one in assertions.iter().take(LISTED) {
            tr {
                td { (one.claim) }
                td { (held_word(one.held)) }
                td class="mono" {
                    @if let Some(reason) = &one.reason { (reason) }
                    @else if !one.seen.is_null() { (one.seen) }
                }
            }
        }
    };
    let heads = [("", "Assertion"), ("", "Held"), ("", "Seen")];
    table("wide", "What the schedule asserts of its own outcome", &heads, &rows)
}

fn held_word(held: Option<bool>) -> Markup {
    html! {
        @match held {
            Some(true) => span class="valid" { "held" },
            Some(false) => span class="invalid" { "did not hold" },
            None => span class="unknown" { "undecided" },
        }
    }
}

fn conditions(outcome: &Outcome) -> Markup {
    if outcome.conditions.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for one in outcome.conditions.iter().take(LISTED) {
            tr {
                td class="mono" { (one.when) }
                td { @if one.met { "met" } @else { span class="unknown" { "not met" } } }
                td class="num" { @if let Some(at) = one.at { (instant(at)) } }
            }
        }
    };
    let heads = [("", "Condition of the schedule"), ("", ""), ("num", "At")];
    html! {
        (table("", "When the steps of the schedule could act", &heads, &rows))
        @if let Some(text) = left_out(outcome.conditions.len(), LISTED, "condition") {
            p class="note" { (text) }
        }
    }
}

fn disagreements(outcome: &Outcome) -> Markup {
    let all = outcome.witness.as_ref().map_or(&[][..], |witness| &witness.disagreements);
    html! {
        @if !all.is_empty() {
            h3 { "Where history and proxies disagree" }
            ul { @for one in all.iter().take(LISTED) { li { (one) } } }
        }
    }
}

fn partitions(outcome: &Outcome) -> Markup {
    if outcome.partitions.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for (key, at) in outcome.partitions.iter().take(PARTITIONS) { (partition(key, at)) }
    };
    let heads = [
        ("", "Partition"),
        ("num", "Leader"),
        ("num", "Leader epoch"),
        ("", "ISR"),
        ("", "Replicas"),
        ("num", "Log start"),
        ("num", "High watermark"),
        ("num", "LEO"),
        ("num", "Read to"),
    ];
    html! {
        (table("wide", "Where each partition stood at the end", &heads, &rows))
        @if let Some(text) = left_out(outcome.partitions.len(), PARTITIONS, "partition") {
            p class="note" { (text) }
        }
    }
}

fn partition(key: &str, at: &FinalPartition) -> Markup {
    let smaller = at.isr.len() < at.replicas.len();
    html! {
        tr {
            th scope="row" { (key) }
            td class="num" {
                @if let Some(leader) = at.leader { (leader) }
                @else { span class="invalid" { "none" } }
            }
            td class="num" { (at.leader_epoch) }
            td class="nowrap" {
                span class=[smaller.then_some("unknown")] { (nodes_text(&at.isr)) }
            }
            td class="nowrap" { (nodes_text(&at.replicas)) }
            @for offset in [at.log_start, at.hw, at.leo, at.final_read_to] {
                td class="num" { (offset_text(offset)) }
            }
        }
    }
}

fn nodes_text(nodes: &[NodeId]) -> String {
    nodes.iter().map(NodeId::to_string).collect::<Vec<_>>().join(", ")
}

fn offset_text(offset: Option<Offset>) -> String {
    offset.map_or_else(String::new, |offset| offset.to_string())
}
