//! Schedules: what happens to the cluster and when, as data; one file each.

use std::path::Path;

use crate::steps::{Schedule, ScheduleError, format};

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
    /// Whether partitions have followers.
    pub replicated: bool,
}

/// The schedule of this name, or in this file (a name that ends in `.json`).
///
/// # Errors
/// When there is none, or it is malformed: then line and field are named.
pub fn load(name: &str, ask: &Ask) -> Result<Schedule, ScheduleError> {
    if name.ends_with(".json") {
        let path = Path::new(name);
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScheduleError::File { path: path.to_owned(), source })?;
        return format::parse(path, &text);
    }
    let found = TABLE.iter().find(|(known, _, _)| *known == name.to_lowercase());
    let Some((name, _, entry)) = found else {
        let known: Vec<&str> = TABLE.iter().map(|(known, _, _)| *known).collect();
        return Err(ScheduleError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    let text = serde_json::to_string_pretty(&(entry.make)(ask)).expect("a value is plain JSON");
    format::parse(Path::new(name), &text)
}

#[cfg(test)]
mod tests;
