//! What each choice of settings costs and loses, over many runs: figures, a page, advice.
//!
//! A cell is one choice of acks, min.insync.replicas, unclean election and flush; keys of one run
//! with the same choice are one cell. [`faulty`] takes the figures of a run with faults, [`calm`]
//! those of a run without; [`Comparison`] puts runs together.

mod advice;
mod availability;
mod calm;
mod cause;
mod curve;
mod exercised;
mod faulty;
mod model;
mod page;
mod spread;

pub use calm::calm;
pub use faulty::faulty;
pub use model::{
    CalmCell, Cell, CellFigures, ComparedRun, Comparison, FaultyRun, Latency, Losses, Setting,
};
pub use page::page;
pub use spread::Spread;
