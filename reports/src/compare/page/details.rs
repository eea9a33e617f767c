//! Every figure of every cell, and the runs that they stand on.

use maud::{Markup, html};

use super::{SETTING, setting};
use crate::{
    compare::{comparison::ComparedRun, model::Cell, spread::Spread},
    parts::{counts_text, table, verdict_word},
    text::{count, significant},
};

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

pub(super) fn details(cells: &[Cell]) -> Markup {
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

pub(super) fn runs(runs: &[ComparedRun]) -> Markup {
    let heads = [
        ("", "schedule"),
        ("num", "seed"),
        ("", "verdict"),
        ("", "anomalies"),
        ("", "not in the figures"),
        ("", "folder"),
        ("", "repeat"),
    ];
    let rows = html! {
        @for run in runs {
            tr {
                td { (run.schedule) }
                td class="num" { (run.seed) }
                td { (verdict_word(run.verdict.as_str())) }
                td { (counts_text(&run.anomalies)) }
                td { (run.left_out.as_deref().unwrap_or("")) }
                td { (run.folder) }
                td { code { (run.reproduce.as_deref().unwrap_or("")) } }
            }
        }
    };
    html! {
        h2 { "Runs" }
        (table("wide", "Each is a run folder of its own", &heads, &rows))
    }
}
