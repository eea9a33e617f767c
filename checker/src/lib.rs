//! Judges the evidence of a run: claims over a history.
//!
//! [`check`] reads the history once into an [`index::Index`] (struct of arrays per key), asks every
//! claim of `src/claim/` about it, and merges their answers into a [`Verdict`]. What one anomaly is
//! and what permits it is decided by the contract; every finding names the rule it breaks or the
//! clause that allows it.
//!
//! A record that was acknowledged and passed over by the one who read:
//!
//! ```
//! use highwater_checker::{Evidence, Options, check};
//! use highwater_history::{reader::HistoryReader, verdict::Validity};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("history.jsonl");
//! std::fs::write(
//!     &file,
//!     r#"{"index":0,"time":10,"process":1,"type":"invoke","f":"send","value":[["send","t-0",7]]}
//! {"index":1,"time":20,"process":1,"type":"ok","f":"send","value":[["send","t-0",[0,7]]]}
//! {"index":2,"time":30,"process":1,"type":"invoke","f":"send","value":[["send","t-0",8]]}
//! {"index":3,"time":40,"process":1,"type":"ok","f":"send","value":[["send","t-0",[1,8]]]}
//! {"index":4,"time":50,"process":2,"type":"invoke","f":"poll","value":[["poll"]]}
//! {"index":5,"time":60,"process":2,"type":"ok","f":"poll","value":[["poll",{"t-0":[[1,8]]}]]}
//! "#,
//! )?;
//! let events = HistoryReader::open(&file)?.collect::<Result<_, _>>()?;
//! let verdict = check(&Evidence::of_events(events), &Options::default())?;
//! assert_eq!(verdict.verdict, Validity::Invalid);
//! assert_eq!(verdict.anomalies["lost-write"], 1);
//! let lost = verdict.claims.iter().find(|claim| claim.claim == "lost-write").unwrap();
//! let finding = &lost.findings[0];
//! assert_eq!((finding.value, finding.offset), (Some(7), Some(0)));
//! println!("{}: {}", finding.anomaly, finding.why);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/formats.md` says what may stand in a history; [`highwater_history::recorder`] writes one.

pub mod across;
mod assertions;
mod budget;
pub mod claim;
pub mod cli;
pub mod conflict;
mod coverage;
mod cycle;
mod data_loss;
mod epoch_batches;
pub mod evidence;
pub mod explain;
mod faults;
pub mod finding;
mod fold;
mod follow;
pub mod index;
mod insync;
mod judge;
mod leaderless;
pub mod leadership;
pub mod limits;
mod measured;
pub mod memory;
mod merge;
mod metrics;
mod min_isr;
mod notes;
mod parallel;
pub mod part;
mod permission;
mod reason;
pub mod registry;
mod replaced;
pub mod replicas;
mod retention;
pub mod shard;
pub mod shard_cli;
pub mod text;
pub mod told;
pub mod view;
pub mod what_if;
mod whole;

pub use evidence::{Evidence, History};
pub use highwater_history::Verdict;
pub use judge::{CheckError, Options, check, look};
