//! The first screen: the verdict and why, the repeat command, counts, what was permitted.

use highwater_history::{Manifest, verdict::ClaimVerdict};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{claim_link, counts_text, table, verdict_word},
    text::{count, duration},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 10, title: "Verdict", render };

fn render(run: &Run) -> Option<Markup> {
    let verdict = &run.verdict;
    let reproduce = verdict.reproduce.as_ref();
    let reproduce =
        reproduce.or(run.manifest.as_ref().and_then(|manifest| manifest.reproduce.as_ref()));
    Some(html! {
        p class="muted" { (identity(run)) }
        h1 { (verdict_word(verdict.verdict.as_str())) }
        p class="reason" { (verdict.reason) }
        @if let Some(command) = reproduce { (repeat(command)) }
        (tiles(run))
        (violations(run))
        (permitted(&verdict.claims))
        @if !verdict.notes.is_empty() {
            h3 { "Notes" }
            ul { @for note in &verdict.notes { li { (note) } } }
        }
    })
}

/// What was run, on one line.
fn identity(run: &Run) -> String {
    let length = format!("{} long", duration(run.end_ns));
    let Some(manifest) = &run.manifest else {
        return format!("a history without a manifest, {length}");
    };
    let Manifest { target, workload, .. } = manifest;
    let brokers = target.nodes.iter().filter(|node| node.is_broker());
    let mut parts = vec![
        format!("run {}", manifest.run),
        format!("target {} {}", target.name, target.version).trim_end().to_owned(),
        format!("{} brokers", brokers.count()),
        format!("workload {}", workload.name),
    ];
    if let Some(name) = manifest.schedule.get("name").and_then(|name| name.as_str()) {
        parts.push(format!("schedule {name}"));
    }
    parts.push(format!("seed {}", manifest.seed));
    parts.push(length);
    if !target.mutants.is_empty() {
        parts.push(format!("mutants switched on: {}", target.mutants.join(", ")));
    }
    parts.join(" · ")
}

fn repeat(command: &str) -> Markup {
    html! {
        p class="note" { "Repeat it with" }
        div class="repeat" {
            pre id="repeat-command" tabindex="0" { (command) }
            button type="button" hidden data-copy="repeat-command" { "Copy" }
        }
    }
}

fn tiles(run: &Run) -> Markup {
    let counts = &run.verdict.counts;
    let tiles = [
        ("operations", counts.ops),
        ("ok", counts.ok),
        ("fail", counts.fail),
        ("info", counts.info),
        ("records sent", counts.sent),
        ("acknowledged", counts.acknowledged),
        ("read", counts.read),
        ("violations", run.verdict.anomalies.values().sum()),
        ("permitted", run.verdict.permitted.values().sum()),
    ];
    html! {
        dl class="tiles" {
            @for (name, n) in tiles { div { dt { (name) } dd { (count(n)) } } }
        }
    }
}

fn violations(run: &Run) -> Markup {
    let claims = run.verdict.claims.iter().enumerate();
    let rows = html! {
        @for (i, claim) in claims.filter(|(_, claim)| !claim.anomalies.is_empty()) {
            @for (name, n) in &claim.anomalies {
                tr {
                    th scope="row" { (name) }
                    td class="num" { (count(*n)) }
                    td { (claim_link(i, claim)) }
                    td { (claim.title) }
                }
            }
        }
    };
    match run.verdict.anomalies.is_empty() {
        true => html! {},
        false => table(
            "wide",
            "Violations: promises that were broken",
            &[("", "Anomaly"), ("num", "Count"), ("", "Claim"), ("", "What was claimed")],
            &rows,
        ),
    }
}

/// What clauses of the contract's part c allowed, claim by claim.
fn permitted(claims: &[ClaimVerdict]) -> Markup {
    let claims = claims.iter().enumerate();
    let claims: Vec<_> = claims.filter(|(_, claim)| !claim.permitted.is_empty()).collect();
    if claims.is_empty() {
        return html! { p class="muted" { "Nothing had to be permitted." } };
    }
    let rows = html! {
        @for (i, claim) in claims {
            tr {
                th scope="row" { (claim_link(i, claim)) }
                td { (counts_text(&claim.permitted)) }
                td {
                    @if claim.clauses.is_empty() { "never a violation" }
                    @else { (clauses_text(claim)) }
                }
            }
        }
    };
    let heads = [("", "Claim"), ("", "Permitted"), ("", "By clause")];
    table("wide", "Permitted: what the settings did not promise", &heads, &rows)
}

fn clauses_text(claim: &ClaimVerdict) -> String {
    let texts: Vec<String> =
        claim.clauses.iter().map(|(clause, n)| format!("{clause} ({})", count(*n))).collect();
    texts.join(", ")
}
