//! What replicas and controllers show beside the history: who led when, what each log held.

mod held;
mod leaders;
mod watermarks;

#[cfg(test)]
mod tests;

pub(crate) use held::{Dumps, Held, Holding};
pub(crate) use leaders::{Leadership, Span, from_metadata, from_samples};
pub(crate) use watermarks::Watermarks;
