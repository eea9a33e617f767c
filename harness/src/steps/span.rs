//! Lengths of time as people write them, as the checker reads them too.

pub use highwater_history::span::Span;
