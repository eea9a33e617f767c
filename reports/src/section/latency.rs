//! Latency of sends, from their intended start, per acks level.

use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    activity::{Level, LevelActivity, Micros},
    chart::{Frame, Series, Y, line_chart},
    parts::{fault_bands, table},
    text::{count, duration},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 40, title: "Latency", render };

/// Latencies below this are drawn on the axis.
const FLOOR_NS: f64 = 100_000.0;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

fn render(run: &Run) -> Option<Markup> {
    let measured: Vec<(&Level, &LevelActivity)> =
        run.activity.levels.iter().filter(|(_, of)| of.latency.total().len() > 0).collect();
    if measured.is_empty() {
        return None;
    }
    Some(html! {
        h2 { "Latency" }
        p {
            "Of sends that ended ok, counted from when each should have started, so that a stalled "
            "cluster is not flattered. Shaded: faults."
        }
        (quantiles(&measured))
        @for (level, of) in &measured { (chart(run, **level, of)) }
    })
}

fn quantiles(measured: &[(&Level, &LevelActivity)]) -> Markup {
    let rows = html! {
        @for (level, of) in measured {
            @let all = of.latency.total();
            tr {
                th scope="row" { (level.name()) }
                td class="num" { (count(all.len())) }
                @for part in QUANTILES { td class="num" { (latency_text(all.quantile_ns(part))) } }
                td class="num" { (latency_text(all.max_ns())) }
                td class="num" { (count(of.fail)) }
                td class="num" { (count(of.info)) }
            }
        }
    };
    let heads = [
        ("", "Sends"),
        ("num", "ok"),
        ("num", "p50"),
        ("num", "p90"),
        ("num", "p99"),
        ("num", "p99.9"),
        ("num", "longest"),
        ("num", "fail"),
        ("num", "info"),
    ];
    table("", "Latency over the whole run", &heads, &rows)
}

fn chart(run: &Run, level: Level, of: &LevelActivity) -> Markup {
    let series = [("p50", "", Some(0.5)), ("p99", "dash", Some(0.99)), ("longest", "dots", None)];
    let series = series.map(|(name, dash, part)| Series {
        name: format!("{} {name}", level.name()),
        class: format!("{} {dash}", level.class()),
        points: points(of, part),
    });
    let title = format!("Latency of {} sends over the run", level.name());
    let axis = Y::Log { floor: FLOOR_NS };
    let bands = fault_bands(run);
    let frame = Frame::new(run.end_ns, 150.0);
    html! {
        figure {
            figcaption class="note" { (title) ", logarithmic" }
            (line_chart(&frame, (&title, axis), &bands, &series, |ns| duration(ns as u64)))
        }
    }
}

/// The quantile of each bin, the longest latency for none.
fn points(of: &LevelActivity, part: Option<f64>) -> Vec<(u64, Option<f64>)> {
    let of_bin = |bin: &Micros| part.map_or_else(|| bin.max_ns(), |part| bin.quantile_ns(part));
    of.latency.iter().map(|(at, bin)| (at, of_bin(bin).map(|ns| ns as f64))).collect()
}

fn latency_text(ns: Option<u64>) -> String {
    ns.map_or_else(String::new, duration)
}
