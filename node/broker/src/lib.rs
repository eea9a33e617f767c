//! A whole broker or controller without I/O.

pub mod effect;
pub mod event;
