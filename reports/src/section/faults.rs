//! Faults, each with the proof that it acted.

use highwater_history::{
    TimeNs,
    outcome::{FaultOutcome, FaultStatus},
};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{left_out, table},
    text::{duration, instant},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 70, title: "Faults", render };

/// The most faults that are listed.
const LISTED: usize = 200;

fn render(run: &Run) -> Option<Markup> {
    let faults = &run.verdict.faults;
    if faults.is_empty() {
        return None;
    }
    let heads = [
        ("", "Fault"),
        ("", "Hit"),
        ("nowrap", "From"),
        ("nowrap", "Lasted"),
        ("", "Status"),
        ("", "Proof that it acted, or why not"),
    ];
    let rows = html! { @for fault in faults.iter().take(LISTED) { (row(fault)) } };
    Some(html! {
        h2 { "Faults" }
        (table("wide", &summary(faults), &heads, &rows))
        @if let Some(text) = left_out(faults.len(), LISTED, "fault") { p class="note" { (text) } }
    })
}

fn summary(faults: &[FaultOutcome]) -> String {
    let statuses = [FaultStatus::Installed, FaultStatus::Skipped, FaultStatus::Indeterminate];
    let texts = statuses.map(|status| {
        let n = faults.iter().filter(|fault| fault.status == status).count();
        format!("{n} {}", word(status).0)
    });
    format!("What was injected: {}", texts.join(", "))
}

fn row(fault: &FaultOutcome) -> Markup {
    let (status, class) = word(fault.status);
    let lasted = fault.from.zip(fault.to).map(|(from, to)| duration(to.saturating_sub(from)));
    html! {
        tr {
            th scope="row" { (fault.kind) }
            td class="words" { (fault.targets.join(", ")) }
            td class="nowrap" { (at_text(fault.from)) }
            td class="nowrap" { (lasted.unwrap_or_default()) }
            td class="nowrap" { span class=(class) { (status) } }
            td class="mono" {
                @if let Some(reason) = &fault.reason { (reason) " " }
                @if !fault.proof.is_null() { (proof_text(&fault.proof)) }
            }
        }
    }
}

fn word(status: FaultStatus) -> (&'static str, &'static str) {
    match status {
        FaultStatus::Installed => ("installed", "valid"),
        FaultStatus::Skipped => ("skipped", "vacuous"),
        FaultStatus::Indeterminate => ("indeterminate", "unknown"),
    }
}

fn at_text(at: Option<TimeNs>) -> String {
    at.map_or_else(String::new, instant)
}

/// A proof as `name: value` pairs, or as it is.
fn proof_text(proof: &serde_json::Value) -> String {
    match proof {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(fields) => {
            let pair = |(name, value): (&String, &serde_json::Value)| match value {
                serde_json::Value::String(text) => format!("{name}: {text}"),
                other => format!("{name}: {other}"),
            };
            fields.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
