//! Permitted loss: how much each cause cost, by which clause.

use highwater_history::verdict::KeyLoss;
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{left_out, table},
    text::{bytes, count, duration, instant},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 20, title: "Permitted loss", render };

/// The most rows that are listed.
const LISTED: usize = 100;

fn render(run: &Run) -> Option<Markup> {
    let losses = run.verdict.metrics.get(KeyLoss::PERMITTED)?;
    let losses: Vec<KeyLoss> = serde_json::from_value(losses.clone()).ok()?;
    let heads = [
        ("", "Key"),
        ("num", "Records"),
        ("num", "Bytes"),
        ("num", "Offsets"),
        ("nowrap", "Acknowledged from"),
        ("nowrap", "Within"),
        ("", "Clause"),
        ("", "Fulfilled by"),
    ];
    let rows = html! { @for loss in losses.iter().take(LISTED) { (row(loss)) } };
    Some(html! {
        h2 { "Permitted loss" }
        (table("wide", &summary(&losses), &heads, &rows))
        @if let Some(text) = left_out(losses.len(), LISTED, "row") { p class="note" { (text) } }
    })
}

fn summary(losses: &[KeyLoss]) -> String {
    let records: u64 = losses.iter().map(|loss| loss.records).sum();
    let records = count(records);
    format!("Acknowledged records that are gone, as the settings allow: {records}")
}

fn row(loss: &KeyLoss) -> Markup {
    let lasted_ns = loss.acknowledged_to_ns.saturating_sub(loss.acknowledged_from_ns);
    html! {
        tr {
            th scope="row" { (loss.key) }
            td class="num" { (count(loss.records)) }
            td class="num" { @if let Some(size) = loss.bytes { (bytes(size)) } @else { "unknown" } }
            td class="num" { (loss.offsets.0) " to " (loss.offsets.1) }
            td class="nowrap" { (instant(loss.acknowledged_from_ns)) }
            td class="nowrap" { (duration(lasted_ns)) }
            td { (loss.clause.as_deref().unwrap_or_default()) }
            td { (loss.fulfilled_by.as_deref().unwrap_or_default()) }
        }
    }
}
