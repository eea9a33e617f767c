//! Schedules: what happens to the cluster and when, as data; one file each.

use std::path::Path;

use crate::steps::{Schedule, ScheduleError, Source, format};

include!(concat!(env!("OUT_DIR"), "/schedule_table.rs"));

/// A plug-in: how a schedule is made.
pub struct Entry {
    /// Makes the schedule for a seed and the time that faults may last; pure.
    pub make: fn(&Ask) -> serde_json::Value,
}

/// What a schedule is made for.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// The run's seed.
    pub seed: u64,
    /// How long faults may last, in milliseconds.
    pub time_ms: u64,
    /// Replicas of each partition, as far as the options say.
    pub replicas: u32,
    /// Whether faults can act on links.
    pub proxies: bool,
}

/// A schedule, and the text that it was read from.
#[derive(Debug)]
pub struct Loaded {
    /// The schedule.
    pub schedule: Schedule,
    /// Its text, to name lines of.
    pub source: Source,
}

impl Loaded {
    fn parse(path: &Path, text: &str) -> Result<Loaded, ScheduleError> {
        let schedule = format::parse(path, text)?;
        Ok(Loaded { schedule, source: Source::new(path, text) })
    }
}

/// The schedule of this name, or in this file (a name that ends in `.json`).
///
/// # Errors
/// When there is none, or it is malformed: then line and field are named.
pub fn load(name: &str, ask: &Ask) -> Result<Loaded, ScheduleError> {
    if name.ends_with(".json") {
        let path = Path::new(name);
        return Loaded::parse(path, &read(path)?);
    }
    let found = TABLE.iter().find(|(known, _, _)| *known == name.to_lowercase());
    let Some((name, _, entry)) = found else {
        let known: Vec<&str> = TABLE.iter().map(|(known, _, _)| *known).collect();
        return Err(ScheduleError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    let text = serde_json::to_string_pretty(&(entry.make)(ask)).expect("a value is plain JSON");
    Loaded::parse(Path::new(name), &text)
}

fn read(path: &Path) -> Result<String, ScheduleError> {
    let path = path.to_owned();
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(ScheduleError::File { path, source }),
    };
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + sound.iter().filter(|byte| **byte == b'\n').count();
        ScheduleError::Malformed { path, line, problem: "this is no UTF-8 text".to_owned() }
    })
}

#[cfg(test)]
mod tests;
