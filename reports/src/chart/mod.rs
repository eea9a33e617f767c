//! Charts over the time of a run, as inline SVG that follows the page's colours.

mod frame;
mod line;
mod ticks;

pub(crate) use frame::{Frame, Lane, px};
pub(crate) use line::{Series, Y, legend, line_chart};
