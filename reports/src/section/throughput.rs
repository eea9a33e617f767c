//! Throughput over the run: records acknowledged per acks level, records read, operations not ok.

use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    activity::{Amount, Bins},
    chart::{Frame, Series, Y, line_chart},
    parts::fault_bands,
    text::{NS_PER_S, short},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 50, title: "Throughput", render };

fn render(run: &Run) -> Option<Markup> {
    let levels = &run.activity.levels;
    if levels.is_empty() && run.activity.read.iter().next().is_none() {
        return None;
    }
    let sent = levels.iter().map(|(level, of)| {
        let name = format!("{} acknowledged", level.name());
        series(run, name, level.class().to_owned(), &of.acknowledged)
    });
    let sent: Vec<Series> = sent.collect();
    let read = [series(run, "read".to_owned(), "reads".to_owned(), &run.activity.read)];
    let not_ok = levels.iter().map(|(level, of)| {
        let name = format!("{} fail or info", level.name());
        series(run, name, level.class().to_owned(), &of.not_ok)
    });
    let not_ok: Vec<Series> = not_ok.collect();
    Some(html! {
        h2 { "Throughput" }
        @if !levels.is_empty() {
            (figure(run, "Records acknowledged per second; with acks=0, sent", &sent))
            (figure(run, "Sends per second that ended fail or info", &not_ok))
        }
        (figure(run, "Records read per second", &read))
    })
}

fn figure(run: &Run, title: &str, series: &[Series]) -> Markup {
    let frame = Frame::new(run.end_ns, 130.0);
    html! {
        figure {
            figcaption class="note" { (title) }
            (line_chart(&frame, (title, Y::Linear), &fault_bands(run), series, short))
        }
    }
}

/// Amounts per second; a run's whole length is covered, quiet times are 0.
fn series(run: &Run, name: String, class: String, bins: &Bins<Amount>) -> Series {
    let mut bins = bins.clone();
    bins.at(run.end_ns);
    let per_second = NS_PER_S / bins.width_ns() as f64;
    let points = bins.iter().map(|(at, amount)| (at, Some(amount.0 as f64 * per_second))).collect();
    Series { name, class, points }
}
