//! What the clients of a run do: generators choose operations, and clients carry them out.
//!
//! Everything here is pure but [`driver`]: time, randomness and the network are inputs and effects.

pub mod appenders;
pub mod client;
pub mod driver;
pub mod fleet;
pub mod op;
pub mod outcome;
pub mod random;
pub mod settings;
#[cfg(test)]
mod testing;
pub mod time;
pub mod topic;
pub mod value;
pub mod workload;

pub use op::{Completion, Op};
pub use outcome::{Acks, Outcome};
pub use settings::Settings;
pub use time::Time;
pub use topic::{Catalog, Key};
