//! The frame that all charts of one page share: the run's time from left to right, fault bands.

use maud::{Markup, html};

use super::ticks::linear_ticks;
use crate::text::{NS_PER_S, significant};

/// Width of every chart in SVG units; the page scales it.
const WIDTH: f64 = 1080.0;
/// Room for the labels left of the plot.
const LEFT: f64 = 92.0;
/// Room right of the plot, so that the last label of the axis is not cut.
const RIGHT: f64 = 16.0;
/// Room for the axis below the plot.
const AXIS: f64 = 24.0;

/// A span of the run that is drawn behind a plot: what was injected from when to when.
pub(crate) struct Lane {
    /// Start, nanoseconds of the run.
    pub from_ns: u64,
    /// End, nanoseconds of the run.
    pub to_ns: u64,
}

/// Maps the time of a run to x and draws what all plots have in common.
pub(crate) struct Frame {
    end_ns: u64,
    height: f64,
}

impl Frame {
    /// A frame for a run that ended at `end_ns`, with a plot of `height` SVG units.
    pub(crate) fn new(end_ns: u64, height: f64) -> Self {
        Self { end_ns: end_ns.max(1), height }
    }

    /// Where an instant of the run lies; instants after the end lie on the right edge.
    pub(crate) fn x(&self, ns: u64) -> f64 {
        let part = ns.min(self.end_ns) as f64 / self.end_ns as f64;
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    /// The height of the plot without the axis.
    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    /// The whole SVG: the axis of time and what `plot` drew. `label` says in words what it shows.
    pub(crate) fn draw(&self, label: &str, plot: &Markup) -> Markup {
        let total = self.height + AXIS;
        html! {
            svg class="chart" role="img" aria-label=(label)
                viewBox={ "0 0 " (WIDTH) " " (total) } {
                (self.axis())
                (plot)
            }
        }
    }

    /// Bands over the whole height of the plot, one per span.
    pub(crate) fn bands(&self, spans: &[Lane]) -> Markup {
        html! {
            @for span in spans {
                rect class="band" x=(px(self.x(span.from_ns))) y="0" height=(px(self.height))
                    width=(px(self.width(span.from_ns, span.to_ns))) {}
            }
        }
    }

    /// The width of a span, never so thin that it cannot be seen.
    pub(crate) fn width(&self, from_ns: u64, to_ns: u64) -> f64 {
        (self.x(to_ns) - self.x(from_ns)).max(1.5)
    }

    /// A label left of the plot, vertically centred on `y`.
    pub(crate) fn left_label(&self, y: f64, text: &str) -> Markup {
        html! {
            text class="label" x=(px(LEFT - 8.0)) y=(px(y)) text-anchor="end"
                dominant-baseline="central" { (text) }
        }
    }

    /// A horizontal line across the plot.
    pub(crate) fn rule(&self, y: f64) -> Markup {
        html! {
            line class="grid" x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(y)) y2=(px(y)) {}
        }
    }

    fn axis(&self) -> Markup {
        let end_s = self.end_ns as f64 / NS_PER_S;
        let marks = linear_ticks(end_s, 10).into_iter().filter(|s| *s <= end_s * 1.000_001);
        html! {
            @for seconds in marks {
                @let x = px(self.x((seconds * NS_PER_S) as u64));
                line class="grid" x1=(x) x2=(x) y1="0" y2=(px(self.height + 4.0)) {}
                text class="label" x=(x) y=(px(self.height + 18.0)) text-anchor="middle" {
                    (significant(seconds)) " s"
                }
            }
            line class="axis" x1=(px(LEFT)) x2=(px(WIDTH - RIGHT))
                y1=(px(self.height)) y2=(px(self.height)) {}
        }
    }
}

/// A coordinate with one decimal, as short as can be.
pub(crate) fn px(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
