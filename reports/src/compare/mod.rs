//! What each choice of settings costs and loses, over many runs: figures, a page, advice.
//!
//! A cell is one choice of acks, min.insync.replicas, unclean election and flush; keys of one run
//! with the same choice are one cell. [`faulty`] takes the figures of a run with faults, [`down`]
//! those of a run in which more and more replicas are down, [`calm`] those of a run without;
//! [`Cluster`] puts runs of one kind of cluster together, [`Comparison`] several kinds.

mod advice;
mod availability;
mod calm;
mod cause;
mod comparison;
mod curve;
mod down;
mod exercised;
mod faulty;
mod model;
mod page;
mod spread;

pub use calm::calm;
pub use comparison::{Cluster, ComparedRun, Comparison, Figures, LinkCost};
pub use down::down;
pub use faulty::faulty;
pub use model::{CalmCell, Cell, CellFigures, Controllers, DownCell, Latency, Losses, Setting};
pub use page::page;
pub use spread::Spread;
