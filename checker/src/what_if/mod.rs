//! What if less had been promised: the weakest changes of settings that make a history legal.
//!
//! The history is read once. Every combination of promises that are as they are or weaker is judged
//! as `--promise` would have it, from few changes to many, until nothing weaker can be told.

mod lacking;
mod search;
mod settings;
mod text;

use std::collections::BTreeSet;

use highwater_history::{Promise, Verdict, verdict::Validity};
use serde::Serialize;

use self::{lacking::OnRecord, search::Search, settings::Settings};
use crate::{
    Evidence, Options,
    judge::{CheckError, Read, viewed},
};

/// Under which weaker promises a history would be legal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// Format version, 1.
    pub format: u64,
    /// The verdict by what was promised.
    pub verdict: Validity,
    /// The most that anybody was promised.
    pub promised: Promise,
    /// How many combinations were judged beside that.
    pub judged: usize,
    /// The weakest changes that leave nothing violated and nothing undecided; empty where there is
    /// none, or where nothing has to change.
    pub whole: Vec<Alternative>,
    /// The same for each anomaly that counts as a violation.
    pub anomalies: Vec<OfAnomaly>,
}

/// A least set of changed promises: none of its parts is enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// What is promised instead.
    pub promises: Promise,
    /// The verdict on the whole then.
    pub verdict: Validity,
    /// Its reason.
    pub reason: String,
    /// The clauses that permit what is asked about; for the whole those of all.
    pub clauses: BTreeSet<String>,
}

/// What would permit one anomaly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfAnomaly {
    /// Its name.
    pub anomaly: String,
    /// How often it is a violation.
    pub count: u64,
    /// The weakest changes under which none of these is one, and all are decided.
    pub alternatives: Vec<Alternative>,
    /// Settings that may permit it, but not by themselves.
    pub lacking: Vec<Lacking>,
}

/// A setting that permits nothing by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lacking {
    /// The setting.
    pub promises: Promise,
    /// The clause that it opens.
    pub clause: &'static str,
    /// The event that the clause asks for, and what is on record of such.
    pub event: String,
}

/// Judges by what was promised, and by everything that promises less.
///
/// # Errors
/// As those of [`crate::check`].
pub fn what_if(evidence: &Evidence, options: &Options) -> Result<(Verdict, WhatIf), CheckError> {
    let read = Read::of(evidence, options)?;
    let verdict = read.judge(options)?;
    let settings = Settings::of(evidence, options, read.index());
    let mut search = Search::new(&verdict);
    for change in settings.changes() {
        if search.asks(&change) {
            let options = Options { promise: settings.with(&change), ..options.clone() };
            search.take(change, read.judge(&options)?);
        }
    }
    let on_record = viewed(evidence, options, (read.index(), false), OnRecord::of);
    let anomalies = verdict.anomalies.iter().map(|(anomaly, count)| OfAnomaly {
        anomaly: anomaly.clone(),
        count: *count,
        alternatives: search.alternatives(&settings, Some(anomaly)),
        lacking: lacking::of(&settings, &search, &on_record, anomaly),
    });
    let what_if = WhatIf {
        format: 1,
        verdict: verdict.verdict,
        promised: settings.promised.clone(),
        judged: search.judged(),
        whole: search.alternatives(&settings, None),
        anomalies: anomalies.collect(),
    };
    Ok((verdict, what_if))
}
