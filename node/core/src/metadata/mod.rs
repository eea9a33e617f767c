//! The records of the metadata log and the image that they replay to.

pub mod delta;
pub mod image;
pub mod partition;
pub mod record;
pub mod replay;
mod validate;

pub use delta::Delta;
pub use image::{Broker, Image, Topic};
pub use partition::Partition;
pub use record::Record;
pub use replay::{Replay, ReplayError};

#[cfg(test)]
mod tests;
