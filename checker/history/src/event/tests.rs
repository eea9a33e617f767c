//! Round trips and refusals of events.
