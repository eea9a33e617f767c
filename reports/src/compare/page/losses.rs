//! The heat table of losses and availability, and which fault cost what.

use std::collections::BTreeSet;

use highwater_history::event::Acks;
use maud::{Markup, html};

use super::{SETTING, count_or_dash, setting};
use crate::{
    compare::model::{Cell, Setting},
    parts::table,
    text::{count, significant},
};

const HEAT_TITLE: &str = "What each setting loses, and how long it can be written";
const HEAT_CAPTION: &str = "Records lost over all runs, by what cost them; median part of the time \
                            under faults in which it could be written";

/// The four columns of the heat table: unclean election and flush.
const COLUMNS: [(bool, bool, &str); 4] = [
    (false, false, "unclean off, no flush"),
    (false, true, "unclean off, flushed"),
    (true, false, "unclean on, no flush"),
    (true, true, "unclean on, flushed"),
];

pub(super) fn heat(cells: &[Cell]) -> Markup {
    if cells.is_empty() {
        return html! { h2 { (HEAT_TITLE) } p { "Not measured: no run with faults counts." } };
    }
    let rows: BTreeSet<(Acks, u32)> =
        cells.iter().map(|cell| (cell.setting.acks, cell.setting.min_isr)).collect();
    let find = |acks, min_isr, unclean, flushed| {
        let wanted = Setting { acks, min_isr, unclean, flushed };
        cells.iter().find(|cell| cell.setting == wanted)
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
        h2 { (HEAT_TITLE) }
        (table("heat", HEAT_CAPTION, &heads, &rows))
    }
}

fn heat_cell(cell: Option<&Cell>) -> Markup {
    let Some(cell) = cell else { return html! { td { "–" } } };
    let share = cell.losses.records as f64 / cell.acknowledged.total.max(1.0);
    let never = cell.not_exercised().collect::<Vec<_>>().join(", ");
    html! {
        td class={ "heat " (heat_class(cell, share)) } {
            span class="note written" {
                "written " (significant(100.0 * cell.availability.median)) "%"
            }
            strong { (count(cell.losses.records)) } " lost"
            @if cell.losses.records > 0 {
                " (" (significant(100.0 * share)) "%)"
                br; span class="note" { (kinds(cell)) }
            }
            @if !never.is_empty() { br; span class="note" { (never) " not exercised" } }
            @if cell.losses.forbidden > 0 {
                br; strong { (count(cell.losses.forbidden)) " forbidden" }
            }
        }
    }
}

/// What each kind of fault cost, where it cost anything.
fn kinds(cell: &Cell) -> String {
    let lost = cell.losses.by_kind();
    let each = [
        ("kills", lost.kills),
        ("disks", lost.disks),
        ("power", lost.power),
        ("not told", lost.other),
    ];
    let some = each.into_iter().filter(|(_, lost)| *lost > 0);
    some.map(|(kind, lost)| format!("{kind} {}", count(lost))).collect::<Vec<_>>().join(" · ")
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

/// What each fault cost, by setting.
pub(super) fn causes(cells: &[Cell]) -> Markup {
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
