//! Latency from the intended start, per kind of operation and acks level.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use highwater_history::event::Acks;

use crate::{Outcome, workload::Role};

/// What is timed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timed {
    /// Sends at this level.
    Send(Acks),
    /// Polls.
    Poll,
}

impl Timed {
    /// The word in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Timed::Send(Acks::Zero) => "acks=0",
            Timed::Send(Acks::One) => "acks=1",
            Timed::Send(Acks::All) => "acks=all",
            Timed::Poll => "poll",
        }
    }
}

/// One histogram of microseconds each, of operations that ended ok.
#[derive(Debug, Default)]
pub struct Latencies {
    histograms: BTreeMap<Timed, Histogram<u64>>,
}

/// The figures of one histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Operations.
    pub count: u64,
    /// Median, in microseconds.
    pub p50_us: u64,
    /// 99th percentile, in microseconds.
    pub p99_us: u64,
    /// Largest, in microseconds.
    pub max_us: u64,
}

impl Latencies {
    /// Adds an operation of a client of this role.
    pub fn add(&mut self, role: Role, outcome: Outcome, took: Duration) {
        if outcome != Outcome::Ok {
            return;
        }
        let timed = match role {
            Role::Producer(acks) => Timed::Send(acks),
            Role::Consumer => Timed::Poll,
        };
        let histogram = self.histograms.entry(timed).or_insert_with(|| {
            Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are allowed")
        });
        histogram.saturating_record(took.as_micros() as u64);
    }

    /// The figures of each kind that occurred.
    pub fn summaries(&self) -> BTreeMap<Timed, Summary> {
        let summary = |histogram: &Histogram<u64>| Summary {
            count: histogram.len(),
            p50_us: histogram.value_at_quantile(0.5),
            p99_us: histogram.value_at_quantile(0.99),
            max_us: histogram.max(),
        };
        self.histograms.iter().map(|(timed, histogram)| (*timed, summary(histogram))).collect()
    }
}

const SIGNIFICANT_DIGITS: u8 = 3;
