//! The page of a comparison: the table first, then what it stands on.

use std::collections::BTreeSet;

use highwater_history::event::Acks;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    curve::{Curve, curves},
    model::{CalmCell, Cell, Comparison, Setting},
    spread::Spread,
};
use crate::{
    page::STYLE,
    parts::{counts_text, table, verdict_word},
    text::{count, counted, significant},
};

const OWN_STYLE: &str = include_str!("../../assets/compare.css");

/// The four columns of the heat table: unclean election and flush.
const COLUMNS: [(bool, bool, &str); 4] = [
    (false, false, "unclean off, no flush"),
    (false, true, "unclean off, flushed"),
    (true, false, "unclean on, no flush"),
    (true, true, "unclean on, flushed"),
];

/// One self-contained page.
pub fn page(comparison: &Comparison) -> String {
    let title = format!("What settings cost and lose: {}", comparison.target);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Highwater" }
                style { (PreEscaped(STYLE)) (PreEscaped(OWN_STYLE)) }
            }
            body {
                main {
                    header { h1 { (title) } (basis(comparison)) }
                    section aria-label="Advice" { (advice(comparison)) }
                    section aria-label="Losses" { (heat(comparison)) }
                    section aria-label="Causes" { (causes(&comparison.cells)) }
                    section aria-label="Costs" { (costs(&comparison.calm)) }
                    section aria-label="Every cell" { (details(&comparison.cells)) }
                    section aria-label="Runs" { (runs(comparison)) }
                }
                footer { "Highwater " (env!("CARGO_PKG_VERSION")) ". This file needs no other." }
            }
        }
    };
    markup.into_string()
}

fn basis(comparison: &Comparison) -> Markup {
    let seeds = comparison.runs.len() as u64;
    let shared = comparison.shared.iter().map(|(name, value)| format!("{name} {value}"));
    let shared = shared.collect::<Vec<_>>().join(", ");
    html! {
        p class="note" {
            (counted(seeds, "run")) ", each with the same faults at the same instants for all \
             settings"
            @if !shared.is_empty() { "; all with " (shared) }
            ". Lost: acknowledged, and absent from the log after recovery; at acks=0, sent and \
             absent. A loss that no clause of the contract permits is red."
        }
    }
}

fn advice(comparison: &Comparison) -> Markup {
    html! { ul class="advice" { @for sentence in &comparison.advice { li { (sentence) } } } }
}

fn heat(comparison: &Comparison) -> Markup {
    let rows: BTreeSet<(Acks, u32)> =
        comparison.cells.iter().map(|cell| (cell.setting.acks, cell.setting.min_isr)).collect();
    let find = |acks, min_isr, unclean, flushed| {
        let wanted = Setting { acks, min_isr, unclean, flushed };
        comparison.cells.iter().find(|cell| cell.setting == wanted)
    };
    let heads: Vec<(&str, &str)> = [("", "acks"), ("", "min ISR")]
        .into_iter()
        .chain(COLUMNS.map(|(.., head)| ("", head)))
        .collect();
    let rows = html! {
        @for (acks, min_isr) in rows.iter().rev() {
            tr {
                th scope="row" { (acks.as_str()) }
                th scope="row" { (min_isr) }
                @for (unclean, flushed, _) in COLUMNS {
                    (heat_cell(find(*acks, *min_isr, unclean, flushed)))
                }
            }
        }
    };
    html! {
        h2 { "Lost, and time under faults in which it could be written" }
        (table("heat", "Records lost over all runs; median availability", &heads, &rows))
    }
}

fn heat_cell(cell: Option<&Cell>) -> Markup {
    let Some(cell) = cell else { return html! { td { "–" } } };
    let share = cell.losses.records as f64 / cell.acknowledged.total.max(1.0);
    html! {
        td class={ "heat " (heat_class(cell, share)) } {
            strong { (count(cell.losses.records)) } " lost"
            @if cell.losses.records > 0 { " (" (significant(100.0 * share)) "%)" }
            br;
            span class="note" { (significant(100.0 * cell.availability.median)) "% available" }
            @if cell.losses.forbidden > 0 {
                br; strong { (count(cell.losses.forbidden)) " forbidden" }
            }
        }
    }
}

/// The colour of a cell: nothing lost, little, much, or what nothing permits.
fn heat_class(cell: &Cell, share: f64) -> &'static str {
    match cell.losses.records {
        _ if cell.losses.forbidden > 0 => "h-forbidden",
        0 => "h-none",
        _ if share < 0.01 => "h-little",
        _ if share < 0.1 => "h-some",
        _ => "h-much",
    }
}

/// The heads of a row that begins with its setting.
const SETTING: [(&str, &str); 4] = [("", "acks"), ("", "min ISR"), ("", "unclean"), ("", "flush")];

fn setting(of: &Setting) -> Markup {
    html! {
        td { (of.acks.as_str()) }
        td { (of.min_isr) }
        td { @if of.unclean { "on" } @else { "off" } }
        td class="nowrap" { @if of.flushed { "every batch" } @else { "none" } }
    }
}

/// What each fault cost, by setting.
fn causes(cells: &[Cell]) -> Markup {
    let faults: BTreeSet<&str> =
        cells.iter().flat_map(|cell| cell.losses.by_fault.keys()).map(String::as_str).collect();
    let heads: Vec<(&str, &str)> =
        SETTING.into_iter().chain(faults.iter().map(|fault| ("num", *fault))).collect();
    let rows = html! {
        @for cell in cells.iter().filter(|cell| cell.losses.records > 0) {
            tr {
                (setting(&cell.setting))
                @for fault in &faults {
                    td class="num" { (count_or_dash(cell.losses.by_fault.get(*fault))) }
                }
            }
        }
    };
    html! {
        h2 { "Which fault cost what" }
        (table("wide", "Records lost over all runs, by the fault that did it", &heads, &rows))
    }
}

/// What stands where nothing happened.
fn dash() -> String {
    "–".to_owned()
}

fn count_or_dash(of: Option<&u64>) -> String {
    of.map_or(dash(), |of| count(*of))
}

fn costs(calm: &[CalmCell]) -> Markup {
    if calm.is_empty() {
        return html! { h2 { "Costs without faults" } p { "Not measured." } };
    }
    let heads = [
        ("", "acks"),
        ("", "flush"),
        ("num", "offered/s"),
        ("num", "sends"),
        ("num", "p50 ms"),
        ("num", "p99 ms"),
        ("num", "p99.9 ms"),
        ("num", "visible p50 ms"),
        ("num", "copies at ack"),
        ("num", "disk bytes/byte"),
    ];
    let rows = html! {
        @for cell in calm {
            tr {
                td { (cell.acks.as_str()) }
                td { @if cell.flushed { "every batch" } @else { "none" } }
                td class="num" { (count(cell.offered_per_s.into())) }
                td class="num" { (count(cell.sends)) }
                td class="num" { (significant(cell.latency_ms.p50)) }
                td class="num" { (significant(cell.latency_ms.p99)) }
                td class="num" { (significant(cell.latency_ms.p99_9)) }
                td class="num" { (cell.visible_ms.map_or(dash(), |v| significant(v.p50))) }
                td class="num" { (copies(cell)) }
                td class="num" { (significant(cell.disk_bytes_per_byte)) }
            }
        }
    };
    html! {
        h2 { "Costs without faults" }
        (table("wide", "Latency from the intended start of a send", &heads, &rows))
        figure {
            figcaption class="note" { "Median latency, ms, against sends offered per second" }
            (curves("Median latency against load", &lines(calm, |cell| cell.latency_ms.p50)))
        }
        figure {
            figcaption class="note" { "p99 latency, ms, against sends offered per second" }
            (curves("p99 latency against load", &lines(calm, |cell| cell.latency_ms.p99)))
        }
    }
}

fn copies(cell: &CalmCell) -> String {
    if cell.acks == Acks::Zero {
        return dash();
    }
    let (low, high) = (significant(cell.copies_at_least), significant(cell.copies_at_most));
    format!("{low} to {high}")
}

/// One line for each acks level and flush policy.
fn lines(calm: &[CalmCell], of: fn(&CalmCell) -> f64) -> Vec<Curve> {
    let kinds: BTreeSet<(Acks, bool)> = calm.iter().map(|c| (c.acks, c.flushed)).collect();
    let line = |(acks, flushed): (Acks, bool)| {
        let own = calm.iter().filter(|cell| (cell.acks, cell.flushed) == (acks, flushed));
        let mut points: Vec<(f64, f64)> =
            own.map(|cell| (f64::from(cell.offered_per_s), of(cell))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let flush = if flushed { ", flushed" } else { "" };
        let class = match acks {
            Acks::All => "acks-all",
            Acks::One => "acks-one",
            Acks::Zero => "acks-zero",
        };
        let class = if flushed { format!("{class} dashed") } else { class.to_owned() };
        Curve { name: format!("acks={}{flush}", acks.as_str()), class, points }
    };
    kinds.into_iter().map(line).collect()
}

fn spread(spread: &Spread) -> String {
    if spread.n == 1 || spread.min == spread.max {
        return significant(spread.median);
    }
    format!(
        "{} ({} to {})",
        significant(spread.median),
        significant(spread.min),
        significant(spread.max)
    )
}

fn details(cells: &[Cell]) -> Markup {
    let figures = [
        ("num", "runs"),
        ("num", "acknowledged"),
        ("num", "lost"),
        ("", "permitted by"),
        ("num", "forbidden"),
        ("num", "undecided"),
        ("num", "duplicates"),
        ("num", "available %"),
        ("num", "recovery ms"),
        ("", "not exercised"),
    ];
    let heads: Vec<(&str, &str)> = SETTING.into_iter().chain(figures).collect();
    let rows = html! {
        @for cell in cells {
            tr {
                (setting(&cell.setting))
                td class="num" { (cell.runs) }
                td class="num" { (spread(&cell.acknowledged)) }
                td class="num" { (spread(&cell.lost)) }
                td { (counts_text(&cell.losses.permitted)) }
                td class="num" { (count(cell.losses.forbidden)) }
                td class="num" { (count(cell.losses.undecided)) }
                td class="num" { (count(cell.duplicates)) }
                td class="num" { (spread(&cell.availability.times(100.0))) }
                td class="num" { (spread(&cell.recovery_ms)) }
                td { (cell.not_exercised().collect::<Vec<_>>().join(", ")) }
            }
        }
    };
    html! {
        h2 { "Every cell" }
        (table("wide", "By run: the median (the smallest to the largest)", &heads, &rows))
    }
}

fn runs(comparison: &Comparison) -> Markup {
    let heads =
        [("num", "seed"), ("", "verdict"), ("", "anomalies"), ("", "folder"), ("", "repeat")];
    let rows = html! {
        @for run in &comparison.runs {
            tr {
                td class="num" { (run.seed) }
                td { (verdict_word(run.verdict)) }
                td { (counts_text(&run.anomalies)) }
                td { (run.folder) }
                td { code { (run.reproduce.as_deref().unwrap_or("")) } }
            }
        }
    };
    html! {
        h2 { "Runs" }
        (table("wide", "Each is a run folder of its own", &heads, &rows))
        p class="note" { "Repeat all: " code { (comparison.command) } }
    }
}
