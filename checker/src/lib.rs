//! Judges the evidence of a run: claims over a history.
