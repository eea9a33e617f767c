//! Lines over the time of a run, one per series, on a linear or logarithmic axis.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{
    frame::{Frame, Lane, px},
    ticks::{linear_ticks, log_ticks},
};

/// One line of a chart.
pub(crate) struct Series {
    /// What the legend calls it.
    pub name: String,
    /// The CSS class that gives the line its colour and dash.
    pub class: String,
    /// Points in order of time: nanoseconds of the run and the value; none where nothing happened.
    pub points: Vec<(u64, Option<f64>)>,
}

/// The vertical axis of a chart.
#[derive(Clone, Copy)]
pub(crate) enum Y {
    /// From 0 upwards.
    Linear,
    /// By powers of ten; values below `floor` are drawn on it.
    Log {
        /// The lowest value that is told apart, above 0.
        floor: f64,
    },
}

/// A chart of `series` with its legend; `format` writes the marks of the vertical axis, and `label`
/// says in words what the chart shows.
pub(crate) fn line_chart(
    frame: &Frame,
    (label, y): (&str, Y),
    bands: &[Lane],
    series: &[Series],
    format: fn(f64) -> String,
) -> Markup {
    let values = || series.iter().flat_map(|s| s.points.iter()).filter_map(|(_, value)| *value);
    let max = values().fold(0.0, f64::max);
    let min = values().fold(f64::INFINITY, f64::min);
    let marks = match y {
        Y::Linear => linear_ticks(max, 4),
        Y::Log { floor } => log_ticks(min.clamp(floor, floor.max(max)), max.max(floor)),
    };
    let scale = Scale { y, low: marks[0], high: marks[marks.len() - 1], height: frame.height() };
    let plot = html! {
        (frame.bands(bands))
        @for mark in &marks {
            (frame.rule(scale.at(*mark)))
            (frame.left_label(scale.at(*mark).clamp(6.0, frame.height() - 2.0), &format(*mark)))
        }
        @for one in series { path class={ "line " (one.class) } d=(path(frame, &scale, one)) {} }
    };
    let lines = series.iter().map(|one| (one.name.as_str(), one.class.as_str()));
    html! { (frame.draw(label, &plot)) (legend(lines)) }
}

/// The names of lines beside a sample of each, from their names and CSS classes.
pub(crate) fn legend<'a>(lines: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        ul class="legend" {
            @for (name, class) in lines {
                li {
                    svg viewBox="0 0 24 8" aria-hidden="true" {
                        path class={ "line " (class) } d="M1 4H23" {}
                    }
                    (name)
                }
            }
        }
    }
}

/// Maps a value to its height in the plot.
struct Scale {
    y: Y,
    low: f64,
    high: f64,
    height: f64,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let part = match self.y {
            Y::Linear => (value - self.low) / (self.high - self.low),
            Y::Log { .. } => {
                let value = value.max(self.low);
                (value / self.low).ln() / (self.high / self.low).ln()
            }
        };
        // A hair of room above, so that a line at the top is not cut in half.
        2.0 + (1.0 - part) * (self.height - 2.0)
    }
}

/// The path of a series: broken where it has no value, a dot where a value stands alone.
fn path(frame: &Frame, scale: &Scale, series: &Series) -> String {
    let mut out = String::new();
    let mut drawing = false;
    for (i, (at_ns, value)) in series.points.iter().enumerate() {
        let Some(value) = value else {
            drawing = false;
            continue;
        };
        let (x, y) = (px(frame.x(*at_ns)), px(scale.at(*value)));
        let verb = if drawing { 'L' } else { 'M' };
        let alone = !drawing && series.points.get(i + 1).is_none_or(|(_, next)| next.is_none());
        write!(out, "{verb}{x} {y}").expect("a string takes all text");
        if alone {
            out.push_str("h1");
        }
        drawing = true;
    }
    out
}
