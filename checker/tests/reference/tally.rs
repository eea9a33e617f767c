//! What a promise moves to `permitted`, and the counts of one class.

use highwater_history::{
    Promise,
    event::{Acks, Isolation},
};

/// The promises that move findings, as the table in part 3 of the definitions has them.
pub struct Promised {
    /// `acks=1` or `acks=0`.
    pub weak_acks: bool,
    /// Anything but `enable.idempotence=false`.
    pub idempotence: bool,
    /// `isolation.level=read_uncommitted`.
    pub read_uncommitted: bool,
}

impl Promised {
    pub fn of(promise: &Promise) -> Self {
        Self {
            weak_acks: matches!(promise.acks, Some(Acks::Zero | Acks::One)),
            idempotence: promise.idempotence != Some(false),
            read_uncommitted: promise.isolation == Some(Isolation::ReadUncommitted),
        }
    }
}

/// How many anomalies of a class there are, and how many more are permitted.
#[derive(Default)]
pub struct Tally {
    pub anomalies: u64,
    pub permitted: u64,
}

impl Tally {
    pub fn add(&mut self, permitted: bool) {
        if permitted {
            self.permitted += 1;
        } else {
            self.anomalies += 1;
        }
    }
}

impl FromIterator<bool> for Tally {
    /// Counts one finding for each element, which says whether it is permitted.
    fn from_iter<I: IntoIterator<Item = bool>>(findings: I) -> Self {
        let mut tally = Self::default();
        findings.into_iter().for_each(|permitted| tally.add(permitted));
        tally
    }
}
