//! A slow, obviously correct checker of bare histories, and what it is compared on.

pub mod case;
mod facts;
mod history;
pub mod inject;
pub mod judge;
pub mod model;
mod mutate;
mod polls;
mod records;
mod sends;
mod shrink;
mod tally;
pub mod twist;
