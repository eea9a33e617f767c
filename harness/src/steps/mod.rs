//! The language of schedules: steps, conditions, lengths of time.

pub mod bind;
pub mod format;
pub mod mentions;
mod source;
pub mod span;
pub mod when;

pub use format::{Do, Schedule, ScheduleError, ScheduleSettings, Step};
pub use source::Source;
pub use span::Span;
