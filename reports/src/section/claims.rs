//! Claims: what was judged, by which rules of the contract, with what result.

use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{claim_link, counts_text, rules_text, table, verdict_word},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 80, title: "Claims", render };

fn render(run: &Run) -> Option<Markup> {
    let rows = html! {
        @for (i, claim) in run.verdict.claims.iter().enumerate() {
            tr {
                th scope="row" { (claim_link(i, claim)) }
                td { (verdict_word(claim.verdict.as_str())) }
                td { (claim.title) }
                td { (rules_text(&claim.rules)) }
                td { (counts_text(&claim.anomalies)) }
                td { (counts_text(&claim.permitted)) }
            }
        }
    };
    let heads = [
        ("", "Claim"),
        ("", "Verdict"),
        ("", "What it says"),
        ("", "Rules"),
        ("", "Violations"),
        ("", "Permitted"),
    ];
    Some(html! {
        h2 { "Claims" }
        (table("wide", "Every claim judged; rules are those of the contract", &heads, &rows))
    })
}
