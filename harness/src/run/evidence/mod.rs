//! What is collected beside the history: replicas' logs, the metadata log, the final read, the
//! second witness.

pub mod availability;
pub mod dumps;
pub mod final_read;
pub mod metadata;
pub(super) mod segments;
pub mod witness;
