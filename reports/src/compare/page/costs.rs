//! What settings cost without faults: latency, visibility, copies, bytes.

use std::collections::BTreeSet;

use highwater_history::event::Acks;
use maud::{Markup, html};

use super::dash;
use crate::{
    compare::{
        comparison::LinkCost,
        curve::{Curve, curves},
        model::CalmCell,
    },
    parts::table,
    text::{count, significant},
};

const CAPTION: &str = "Latency from the intended start of a send; a quantile is told where ten or \
                       more were slower";

/// Tables and curves of the runs without faults.
pub(super) fn costs(calm: &[CalmCell], links: &[LinkCost]) -> Markup {
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
        ("num", "copies ≤10 ms after ack"),
        ("num", "disk bytes/byte"),
    ];
    let rows = html! {
        @for cell in calm {
            tr {
                td { (cell.acks.as_str()) }
                td { @if cell.flushed { "every batch" } @else { "none" } }
                td class="num" { (count(cell.offered_per_s.into())) }
                td class="num" { (count(cell.sends)) }
                td class="num" { (figure(cell.latency_ms.p50)) }
                td class="num" { (figure(cell.latency_ms.p99)) }
                td class="num" { (figure(cell.latency_ms.p99_9)) }
                td class="num" { (figure(cell.visible_ms.and_then(|visible| visible.p50))) }
                td class="num" { (figure(cell.copies)) }
                td class="num" { (figure(cell.disk_bytes_per_byte)) }
            }
        }
    };
    html! {
        h2 { "Costs without faults" }
        (table("wide", CAPTION, &heads, &rows))
        (carried(links))
        (chart("Median latency", &lines(calm, |cell| cell.latency_ms.p50)))
        (chart("p99 latency", &lines(calm, |cell| cell.latency_ms.p99)))
    }
}

fn figure(of: Option<f64>) -> String {
    of.map_or(dash(), significant)
}

/// The chart of a latency against load; nothing where nowhere enough was sent to tell it.
fn chart(what: &str, lines: &[Curve]) -> Markup {
    html! {
        @if !lines.is_empty() {
            figure {
                figcaption class="note" { (what) ", ms, against sends offered per second" }
                (curves(&format!("{what} against load"), lines))
            }
        }
    }
}

/// What replication put on the links between brokers.
fn carried(links: &[LinkCost]) -> Markup {
    let each = links.iter().map(|link| {
        let offered = count(link.offered_per_s.into());
        format!("{} at {offered} sends a second", significant(link.bytes_per_byte))
    });
    let each = each.collect::<Vec<_>>().join(", ");
    html! {
        @if !links.is_empty() {
            p class="note" {
                "Bytes on the links between brokers for each acknowledged byte of payload, headers \
                 and empty fetches included: " (each) "."
            }
        }
    }
}

/// One line for each acks level and flush policy of which there is a figure.
fn lines(calm: &[CalmCell], of: fn(&CalmCell) -> Option<f64>) -> Vec<Curve> {
    let kinds: BTreeSet<(Acks, bool)> = calm.iter().map(|c| (c.acks, c.flushed)).collect();
    let line = |(acks, flushed): (Acks, bool)| {
        let own = calm.iter().filter(|cell| (cell.acks, cell.flushed) == (acks, flushed));
        let mut points: Vec<(f64, f64)> =
            own.filter_map(|cell| Some((f64::from(cell.offered_per_s), of(cell)?))).collect();
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
    kinds.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}
