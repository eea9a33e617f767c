//! Three brokers and a controller in one process: a network, disks and clients driven by a seed.
//!
//! Every schedule of faults follows from its seed; invariants are checked after each step. A seed
//! that fails is repeated with the command that its message names; `HIGHWATER_TRACE=1` prints the
//! nodes' events, `HIGHWATER_SEEDS` says how many seeds are run.

mod checks;
mod client;
mod disk;
mod faults;
mod host;
mod links;
mod net;
mod process;
mod run;
mod seats;
mod shadow;
mod tests;
mod world;
