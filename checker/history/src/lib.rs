//! The formats of a run folder, their readers and the recorder.
//!
//! Everything that programs of this project tell each other about a run goes through these types.
//! Every format is versioned, and an unknown version is refused by name. `docs/formats.md` shows
//! each of them with examples that a test reads.

pub mod ahead;
pub mod convert;
pub mod dump_folder;
pub mod dumps;
mod edn;
pub mod event;
pub mod format;
pub mod journal;
mod jsonl;
pub mod lines;
pub mod manifest;
pub mod metadata;
pub mod outcome;
mod packed;
pub mod promise;
pub mod reader;
pub mod recorder;
pub mod run_folder;
pub mod samples;
mod stream;
pub mod types;
mod unique;
pub mod verdict;
mod verifiable;

pub use event::{Event, EventValue};
pub use format::FormatError;
pub use manifest::Manifest;
pub use outcome::Outcome;
pub use promise::Promise;
pub use run_folder::RunFolder;
pub use types::{Key, LeaderEpoch, NodeId, Offset, TimeNs, Value};
pub use verdict::Verdict;
