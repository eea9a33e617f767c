//! Pieces of markup that several sections use.

use highwater_history::verdict::{AnomalyCounts, ClaimVerdict};
use maud::{Markup, html};

use crate::{
    Run,
    chart::Lane,
    section::findings,
    text::{count, counted},
};

/// The word of a judgement in its colour.
pub(crate) fn verdict_word(word: &str) -> Markup {
    html! { span class={ "verdict " (word) } { (word) } }
}

/// The name of the claim with this index, a link where the page says more of it.
pub(crate) fn claim_link(i: usize, claim: &ClaimVerdict) -> Markup {
    html! {
        @if findings::has_something_to_say(claim) {
            a href={ "#" (findings::anchor(i)) } { (claim.claim) }
        } @else { (claim.claim) }
    }
}

/// Counts by name on one line: `2 lost-write, 1 duplicate`.
pub(crate) fn counts_text(counts: &AnomalyCounts) -> String {
    let texts: Vec<String> =
        counts.iter().map(|(name, n)| format!("{} {name}", count(*n))).collect();
    texts.join(", ")
}

/// Rule numbers on one line.
pub(crate) fn rules_text(rules: &[u16]) -> String {
    let texts: Vec<String> = rules.iter().map(u16::to_string).collect();
    texts.join(", ")
}

/// A table with caption and column heads; `rows` are whole `tr` elements. It scrolls by itself when
/// it is wider than the page, by keyboard too.
pub(crate) fn table(class: &str, caption: &str, heads: &[(&str, &str)], rows: &Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(caption) {
            table class=(class) {
                caption { (caption) }
                thead { tr {
                    @for (class, head) in heads { th scope="col" class=[some(class)] { (head) } }
                } }
                tbody { (rows) }
            }
        }
    }
}

/// Names and values, one pair a line; pairs without a value are left out.
pub(crate) fn facts(pairs: &[(&str, Option<String>)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in pairs {
                @if let Some(value) = value { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Spans of all faults that were put in place, for the background of charts.
pub(crate) fn fault_bands(run: &Run) -> Vec<Lane> {
    let spans = run.verdict.faults.iter().filter_map(|fault| {
        let from_ns = fault.from?;
        Some(Lane { from_ns, to_ns: fault.to.unwrap_or(run.end_ns) })
    });
    spans.collect()
}

/// JSON as lines of text that a person can read.
pub(crate) fn json_text(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// A folded block of preformatted text under a title.
pub(crate) fn folded(title: &str, text: &str) -> Markup {
    html! {
        details {
            summary { (title) }
            pre tabindex="0" { (text) }
        }
    }
}

/// What is cut off a list that is capped, or none.
pub(crate) fn left_out(all: usize, most: usize, noun: &str) -> Option<String> {
    let more = all.checked_sub(most).filter(|more| *more > 0)?;
    Some(format!("{} not shown.", counted(more as u64, noun)))
}

fn some<'a>(class: &'a &str) -> Option<&'a str> {
    (!class.is_empty()).then_some(class)
}
