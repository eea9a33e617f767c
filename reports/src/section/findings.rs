//! Findings: what broke a promise or had to be permitted, each with its evidence.

use highwater_history::verdict::{ClaimVerdict, Finding};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    evidence::article,
    parts::{counts_text, table, verdict_word},
    run::Shown,
    text::counted,
};

/// The section.
pub const ENTRY: Entry = Entry { order: 55, title: "Findings", render };

/// The most findings of one claim that are listed without their evidence.
const LISTED: usize = 100;

fn render(run: &Run) -> Option<Markup> {
    let claims = run.verdict.claims.iter().enumerate();
    let with_findings: Vec<_> = claims.filter(|(_, claim)| has_something_to_say(claim)).collect();
    if with_findings.is_empty() {
        return None;
    }
    Some(html! {
        h2 { "Findings" }
        @for (i, claim) in with_findings {
            @let shown: Vec<&Shown> = run.shown.iter().filter(|one| one.claim == i).collect();
            (of_claim(i, claim, &shown))
            (explained(run, claim))
        }
    })
}

/// Where the findings of the claim with this index stand on the page.
pub(crate) fn anchor(claim: usize) -> String {
    format!("findings-{claim}")
}

/// Whether the claim has findings, or was not decided for a reason.
pub(crate) fn has_something_to_say(claim: &ClaimVerdict) -> bool {
    !claim.findings.is_empty() || claim.reason.is_some()
}

fn of_claim(i: usize, claim: &ClaimVerdict, shown: &[&Shown]) -> Markup {
    let totals = [("", &claim.anomalies), ("permitted: ", &claim.permitted)]
        .into_iter()
        .filter(|(_, counts)| !counts.is_empty())
        .map(|(word, counts)| format!("{word}{}", counts_text(counts)))
        .collect::<Vec<_>>()
        .join("; ");
    html! {
        h3 id=(anchor(i)) {
            (claim.claim) " " (verdict_word(claim.verdict.as_str()))
        }
        p { (claim.title) @if !totals.is_empty() { " Found: " (totals) "." } }
        @if let Some(reason) = &claim.reason { p class="unknown" { (reason) } }
        @for one in shown { (article(one)) }
        (others(claim, shown))
    }
}

/// The command that tells of a finding the few events that it takes, with the claim's numbers.
fn explained(run: &Run, claim: &ClaimVerdict) -> Markup {
    let of_claim = run.verdict.numbered().filter(|(_, of, _)| of.claim == claim.claim);
    let numbers: Vec<usize> = of_claim.map(|(number, ..)| number).collect();
    // Violations have numbers in a row, permitted ones others behind those of all claims.
    let rows = numbers.chunk_by(|one, next| one + 1 == *next).map(|row| match row {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    html! {
        @if !numbers.is_empty() {
            p class="note" {
                "Explained one by one: " code { "highwater check FOLDER --explain N" } ", N " (rows)
            }
        }
    }
}

/// Findings that are listed in the verdict but not shown with their evidence.
fn others(claim: &ClaimVerdict, shown: &[&Shown]) -> Markup {
    let is_shown = |finding: &&Finding| shown.iter().any(|one| one.finding == **finding);
    let others: Vec<_> = claim.findings.iter().filter(|finding| !is_shown(finding)).collect();
    let rows = html! {
        @for finding in others.iter().take(LISTED) {
            tr {
                td { (finding.anomaly) }
                td { @if let Some(key) = &finding.key { (key) } }
                td class="num" { @if let Some(value) = finding.value { (value) } }
                td class="num" { @if let Some(offset) = finding.offset { (offset) } }
                td { (finding.clause.as_deref().unwrap_or("none")) }
                td { (finding.why) }
            }
        }
    };
    let more = others.len().saturating_sub(LISTED) as u64 + claim.findings_left_out;
    let heads = [
        ("", "Anomaly"),
        ("", "Key"),
        ("num", "Value"),
        ("num", "Offset"),
        ("", "Clause"),
        ("", "Why"),
    ];
    html! {
        @if !others.is_empty() {
            details {
                summary { (counted(others.len() as u64, "further finding")) }
                (table("wide", "Further findings, without their evidence", &heads, &rows))
            }
        }
        @if more > 0 {
            p class="note" { (counted(more, "finding")) " counted above, but not listed here." }
        }
    }
}
