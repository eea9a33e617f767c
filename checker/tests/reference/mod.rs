//! A slow, obviously correct checker of bare histories, and what it is compared on.

pub mod case;
pub mod cycles;
mod facts;
mod groups;
mod history;
pub mod inject;
pub mod judge;
pub mod model;
mod mutate;
mod offsets;
mod polls;
mod real_time;
mod records;
mod sends;
mod shrink;
mod tally;
mod transactions;
pub mod twist;
