//! Known historical bugs that can be switched on: each file replaces one entry of the rule table.

use crate::rule::Rules;

/// One mutant: what it is, where it comes from, and the entry of [`Rules`] that it replaces.
#[derive(Debug)]
pub struct Entry {
    /// The name of the switch, as in `--mutant HW-26`.
    pub id: &'static str,
    /// Where the bug was reported or described.
    pub source: &'static str,
    /// The schedules that show it.
    pub schedule: &'static str,
    /// The rule of the contract that it breaks.
    pub rule: &'static str,
    /// Replaces the entry.
    pub apply: fn(&mut Rules),
}

/// The mutant of this id, if there is one.
pub fn find(id: &str) -> Option<&'static Entry> {
    TABLE.iter().map(|(_, _, entry)| *entry).find(|entry| entry.id == id)
}

include!(concat!(env!("OUT_DIR"), "/mutant_table.rs"));

#[cfg(test)]
mod tests;
