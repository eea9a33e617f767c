//! The guard reads messages as the codec does, and lets nothing through that would exhaust memory.

mod agreement;
mod hostile;
