//! Curves over a quantity other than time, as inline SVG in the page's colours; both axes are
//! logarithmic.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::{
    chart::{legend, px},
    text::short,
};

/// One line of the chart.
pub(super) struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// The CSS class that gives the line its colour and dash.
    pub class: String,
    /// Points in order of their first figure, both above 0.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 48.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 12.0;

/// A chart of these curves with its legend; `label` says in words what it shows.
pub(super) fn curves(label: &str, curves: &[Curve]) -> Markup {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let xs = Axis::over(all().map(|point| point.0), LEFT, WIDTH - RIGHT);
    let ys = Axis::over(all().map(|point| point.1), HEIGHT - BOTTOM, TOP);
    html! {
        svg class="chart" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            @for mark in ys.marks() {
                @let y = px(ys.at(mark));
                line class="grid" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                text x=(LEFT - 6.0) y=(px(ys.at(mark) + 4.0)) text-anchor="end" { (short(mark)) }
            }
            @for mark in xs.marks() {
                text x=(px(xs.at(mark))) y=(HEIGHT - 6.0) text-anchor="middle" { (short(mark)) }
            }
            @for curve in curves {
                path class={ "line " (curve.class) } d=(path(&xs, &ys, &curve.points)) {}
                @for (x, y) in &curve.points {
                    @let (x, y) = (px(xs.at(*x)), px(ys.at(*y)));
                    circle class={ "dot " (curve.class) } r="2.5" cx=(x) cy=(y) {}
                }
            }
        }
        (legend(curves.iter().map(|curve| (curve.name.as_str(), curve.class.as_str()))))
    }
}

/// A logarithmic axis between two positions.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        if high <= 0.0 {
            return Axis { low: 1.0, high: 10.0, from, to };
        }
        // One value alone needs room on both sides, too.
        let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
        Axis { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        self.from + part * (self.to - self.from)
    }

    /// 1, 2 and 5 of every power of ten that the axis covers.
    fn marks(&self) -> Vec<f64> {
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let marks = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
        marks.filter(|mark| (self.low..=self.high).contains(mark)).collect()
    }
}

fn path(xs: &Axis, ys: &Axis, points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (nth, (x, y)) in points.iter().enumerate() {
        let verb = if nth == 0 { 'M' } else { 'L' };
        write!(out, "{verb}{} {}", px(xs.at(*x)), px(ys.at(*y))).expect("a string takes all text");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn marks_are_round_and_inside() {
        let axis = Axis::over([0.4, 30.0].into_iter(), 0.0, 100.0);
        assert_eq!(axis.marks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!((axis.at(0.4), axis.at(30.0)), (0.0, 100.0));
        assert!(Axis::over([].into_iter(), 0.0, 1.0).marks().contains(&1.0));
        assert!(Axis::over([7.0].into_iter(), 0.0, 1.0).at(7.0) > 0.4);
    }
}
