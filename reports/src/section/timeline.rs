//! The timeline: faults, findings and the leader of each partition over the run.

use std::collections::BTreeMap;

use highwater_history::{Key, NodeId, TimeNs};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    chart::{Frame, Lane, px},
    observed::Span,
    parts::{fault_bands, left_out},
    text::{counted, instant},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 30, title: "Timeline", render };

/// The most partitions that get a lane; those with most changes of leader come first.
const PARTITION_LANES: usize = 40;
/// The most kinds of fault that get a lane.
const FAULT_LANES: usize = 20;
/// Colours of leaders; the number of the node stands in each span anyway.
const COLOURS: usize = 6;
const LANE: f64 = 20.0;
const BAR: f64 = 15.0;
/// Width that a digit takes, so that labels only stand where they fit.
const DIGIT: f64 = 7.5;

fn render(run: &Run) -> Option<Markup> {
    Some(html! {
        h2 { "Timeline" }
        (faults(run))
        (leaders(run))
        (lag(run))
    })
}

/// One lane a kind of fault, one bar a fault; diamonds are findings.
fn faults(run: &Run) -> Markup {
    let mut lanes: BTreeMap<&str, Vec<(Lane, String)>> = BTreeMap::new();
    for fault in &run.verdict.faults {
        let Some(from_ns) = fault.from else { continue };
        let span = Lane { from_ns, to_ns: fault.to.unwrap_or(run.end_ns) };
        lanes.entry(&fault.kind).or_default().push((span, fault.targets.join(" ")));
    }
    if lanes.is_empty() && !run.activity.nemesis.is_empty() {
        let at = |(ns, text): &(TimeNs, String)| (Lane { from_ns: *ns, to_ns: *ns }, text.clone());
        lanes.insert("nemesis", run.activity.nemesis.iter().map(at).collect());
    }
    let marks: Vec<(TimeNs, String)> = run
        .shown
        .iter()
        .filter(|shown| !shown.is_permitted())
        .filter_map(|shown| Some((shown.at_ns()?, shown.finding.anomaly.clone())))
        .collect();
    let drawn = lanes.len().min(FAULT_LANES);
    let rows = drawn + usize::from(!marks.is_empty());
    if rows == 0 {
        return html! { p class="muted" { "No fault was injected." } };
    }
    let frame = Frame::new(run.end_ns, rows as f64 * LANE + 4.0);
    let plot = html! {
        @for (row, (kind, bars)) in lanes.iter().take(FAULT_LANES).enumerate() {
            (frame.left_label(row as f64 * LANE + LANE / 2.0, kind))
            @for (span, targets) in bars { (fault_bar(&frame, row, span, targets, kind)) }
        }
        @if !marks.is_empty() {
            (frame.left_label(drawn as f64 * LANE + LANE / 2.0, "violations"))
            @for (at_ns, anomaly) in &marks { (diamond(&frame, drawn, *at_ns, anomaly)) }
        }
    };
    html! {
        figure {
            figcaption class="note" { "Faults, from injection to heal, and whom they hit" }
            (frame.draw("Faults over the run", &plot))
            @if let Some(text) = left_out(lanes.len(), FAULT_LANES, "kind") {
                p class="note" { (text) }
            }
        }
    }
}

fn fault_bar(frame: &Frame, row: usize, span: &Lane, targets: &str, kind: &str) -> Markup {
    let (x, width) = (frame.x(span.from_ns), frame.width(span.from_ns, span.to_ns));
    let top = row as f64 * LANE + (LANE - BAR) / 2.0;
    let fits = targets.len() as f64 * DIGIT < width;
    html! {
        g {
            title {
                (kind) " " (targets) ", " (instant(span.from_ns)) " to " (instant(span.to_ns))
            }
            rect class="bar" x=(px(x)) y=(px(top)) width=(px(width)) height=(BAR) {}
            @if fits {
                text class="fault" x=(px(x + 4.0)) y=(px(top + BAR / 2.0))
                    dominant-baseline="central" { (targets) }
            }
        }
    }
}

fn diamond(frame: &Frame, row: usize, at_ns: TimeNs, anomaly: &str) -> Markup {
    let (x, y) = (frame.x(at_ns), row as f64 * LANE + LANE / 2.0);
    let path = format!("M{} {}l5 -6l5 6l-5 6z", px(x - 5.0), px(y));
    html! { g { title { (anomaly) " at " (instant(at_ns)) } path class="mark" d=(path) {} } }
}

/// One lane a partition, one block a leader; behind them the faults.
fn leaders(run: &Run) -> Markup {
    if run.leaders.is_empty() {
        return html! {
            p class="muted" { "Nothing was recorded of who led which partition." }
        };
    }
    let mut lanes: Vec<(&Key, &Vec<Span>)> = run.leaders.iter().collect();
    if lanes.len() > PARTITION_LANES {
        lanes.sort_by_key(|(_, spans)| std::cmp::Reverse(spans.len()));
        lanes.truncate(PARTITION_LANES);
        lanes.sort_by_key(|(key, _)| *key);
    }
    let colours = colours(run);
    let frame = Frame::new(run.end_ns, lanes.len() as f64 * LANE + 4.0);
    let plot = html! {
        (frame.bands(&fault_bands(run)))
        @for (row, (key, spans)) in lanes.iter().enumerate() {
            (frame.left_label(row as f64 * LANE + LANE / 2.0, &short_key(key)))
            @for (i, span) in spans.iter().enumerate() {
                @let to_ns = spans.get(i + 1).map_or(run.end_ns, |next| next.from_ns);
                (block(&frame, row, span, to_ns, &colours))
            }
        }
    };
    html! {
        figure {
            figcaption class="note" {
                "Leader of each partition (the number is the broker), faults behind"
            }
            (frame.draw("Leader of each partition over the run", &plot))
            (colour_legend(&colours, lanes.iter().flat_map(|(_, spans)| *spans)))
            @if let Some(text) = left_out(run.leaders.len(), PARTITION_LANES, "partition") {
                p class="note" { (text) " Those with most changes of leader are." }
            }
        }
    }
}

fn block(
    frame: &Frame,
    row: usize,
    span: &Span,
    to_ns: TimeNs,
    colours: &BTreeMap<NodeId, usize>,
) -> Markup {
    let (x, width) = (frame.x(span.from_ns), frame.width(span.from_ns, to_ns));
    let top = row as f64 * LANE + (LANE - BAR) / 2.0;
    let class = span.leader.map_or("none".to_owned(), |leader| format!("n{}", colours[&leader]));
    let label = span.leader.map_or("none".to_owned(), |leader| leader.to_string());
    let fits = label.len() as f64 * DIGIT + 2.0 < width;
    html! {
        g {
            title {
                "leader " (label) ", epoch " (span.epoch) ", "
                (instant(span.from_ns)) " to " (instant(to_ns))
            }
            rect class=(class) x=(px(x)) y=(px(top)) width=(px(width)) height=(BAR) {}
            @if fits {
                text class="in" x=(px(x + 4.0)) y=(px(top + BAR / 2.0))
                    dominant-baseline="central" { (label) }
            }
        }
    }
}

/// A colour for each node that ever led.
fn colours(run: &Run) -> BTreeMap<NodeId, usize> {
    let spans = run.leaders.values().flatten();
    let mut colours: BTreeMap<NodeId, usize> =
        spans.filter_map(|span| span.leader).map(|leader| (leader, 0)).collect();
    for (i, colour) in colours.values_mut().enumerate() {
        *colour = i % COLOURS;
    }
    colours
}

fn colour_legend<'a>(
    colours: &BTreeMap<NodeId, usize>,
    mut spans: impl Iterator<Item = &'a Span>,
) -> Markup {
    let some_unled = spans.any(|span| span.leader.is_none());
    html! {
        ul class="legend" {
            @for (node, colour) in colours {
                li {
                    svg class="swatch" viewBox="0 0 18 11" aria-hidden="true" {
                        rect class={ "n" (colour) } width="18" height="11" {}
                    }
                    "broker " (node)
                }
            }
            @if some_unled {
                li {
                    svg class="swatch" viewBox="0 0 18 11" aria-hidden="true" {
                        rect class="none" x="1" y="1" width="16" height="9" {}
                    }
                    "no leader"
                }
            }
        }
    }
}

/// A key as the label of a lane: its end, which holds the partition, when it is long.
fn short_key(key: &Key) -> String {
    const LONGEST: usize = 14;
    let length = key.chars().count();
    match length > LONGEST {
        true => format!("…{}", key.chars().skip(length - LONGEST + 1).collect::<String>()),
        false => key.to_string(),
    }
}

/// Windows in which the harness itself was late.
fn lag(run: &Run) -> Markup {
    let windows = run.outcome.as_ref().map_or(&[][..], |outcome| &outcome.lag_windows);
    html! {
        @if !windows.is_empty() {
            p class="note" {
                "The harness itself was late in " (counted(windows.len() as u64, "window"))
                "; what happened there says nothing of progress: "
                @for (i, window) in windows.iter().take(FAULT_LANES).enumerate() {
                    @if i > 0 { ", " }
                    (instant(window.from)) " to " (instant(window.to))
                }
                "."
            }
        }
    }
}
