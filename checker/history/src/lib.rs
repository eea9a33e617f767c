//! The formats of a run folder, their readers and the recorder.
//!
//! Everything that programs of this project tell each other about a run goes through these types.
//! Every format is versioned, and an unknown version is refused by name. `docs/formats.md` shows
//! each of them with examples that a test reads.
//!
//! A client program writes its history with the [`recorder::Recorder`], the invocation before the
//! request leaves, and anybody reads it with the [`reader::HistoryReader`]:
//!
//! ```
//! use highwater_history::{
//!     Event, EventValue,
//!     event::{Ack, EventKind, Function, MicroOp, Process},
//!     reader::HistoryReader,
//!     recorder::Recorder,
//! };
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("history.jsonl");
//! let mut recorder = Recorder::create(&file)?;
//! let send = |kind, time, ack| {
//!     let op = MicroOp::Send { key: "t-0".into(), value: 7, ack };
//!     let event = Event::new(time, Process::Client(1), kind, Function::Send);
//!     event.with_value(EventValue::Ops(vec![op]))
//! };
//! recorder.append(&mut send(EventKind::Invoke, 1_000, Ack::None))?;
//! recorder.flush()?; // Now the request may leave.
//! recorder.append(&mut send(EventKind::Ok, 2_000, Ack::At(41)))?;
//! recorder.flush()?;
//!
//! let events: Vec<Event> = HistoryReader::open(&file)?.collect::<Result<_, _>>()?;
//! assert_eq!(events.len(), 2);
//! assert_eq!((events[1].index, events[1].kind), (1, EventKind::Ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ahead;
pub mod columns;
pub mod convert;
pub mod dump_folder;
pub mod dumps;
mod edn;
pub mod event;
pub mod follow;
pub mod format;
mod growing;
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
pub mod span;
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
