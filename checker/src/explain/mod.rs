//! Explanations: for one finding the events that it takes, and why they cannot be.
//!
//! [`explain`] begins with the finding's own events and asks its claim whether it still finds it in
//! them alone. While it does not, more is added: what lies nearest, what names the keys, all. Then
//! everything that the finding does without is taken away. The evidence beside the history stays:
//! of that the explanation says what the finding stands on.

mod beside;
mod cut;
mod gather;
mod minimise;
mod nearest;
mod probe;
mod source;
mod table;
mod text;
mod trim;
mod unit;
mod words;

use highwater_history::{
    Event, FormatError, Key, LeaderEpoch, NodeId, Offset, TimeNs, Value, Verdict, verdict::Finding,
};
use serde::Serialize;

use self::{
    gather::{Gathered, Reach},
    probe::Probe,
    unit::Unit,
};
use crate::{Evidence, History, Options};

/// A finding and the least that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Format version, 1.
    pub format: u64,
    /// The finding's number, from 1.
    pub number: usize,
    /// The claim that found it.
    pub claim: String,
    /// The finding in the whole history.
    pub finding: Finding,
    /// The operations that it takes, in order: without any one of them the claim does not find it.
    pub operations: Vec<Row>,
    /// Whether the search for less was given up: some of the operations may not be needed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub given_up: bool,
    /// What the nemesis did while they lasted.
    pub faults: Vec<Fault>,
    /// What it stands on beside the history.
    pub beside: Vec<Beside>,
    /// Why that cannot be, or why it may.
    pub why: String,
    /// What of it is that something is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// What would have excused a violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excuse: Option<String>,
    /// The events of the operations, cut down to what the finding takes; their indexes are those of
    /// the history.
    pub events: Vec<Event>,
    /// Sessions, keys and faults: what the history says beside its operations.
    #[serde(skip)]
    pub surroundings: Vec<Event>,
}

/// One operation as a person reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Indexes of its invocation and its completion.
    pub events: Vec<u64>,
    /// When it was invoked.
    pub from: TimeNs,
    /// When it ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeNs>,
    /// Its process.
    pub process: u64,
    /// What that is, as far as the history tells.
    pub role: String,
    /// The broker that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What was asked.
    pub asked: String,
    /// What came back.
    pub answer: String,
    /// The records that it sent or read.
    pub records: Vec<Place>,
    /// Records of it that the finding does without.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

/// One record of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its key.
    pub key: Key,
    /// Where the operation was told that it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Offset>,
    /// The record.
    pub value: Value,
    /// The leader epoch of that place, where anything tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<LeaderEpoch>,
}

/// What the nemesis did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// Index of its event.
    pub event: u64,
    /// When.
    pub at: TimeNs,
    /// What.
    pub what: String,
}

/// One piece of the evidence beside the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// Its file, within the run folder.
    pub file: String,
    /// Its line there, where one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What it says.
    pub says: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The verdict lists nothing.
    #[error("--explain {0}: the verdict has no findings")]
    NoFindings(usize),
    /// The verdict does not list so many.
    #[error("--explain {asked}: the verdict lists findings 1 to {last}")]
    OutOfRange {
        /// What was asked for.
        asked: usize,
        /// The last one that there is.
        last: usize,
    },
    /// The history is not any more what was judged.
    #[error("--explain {0}: the history does not show that finding any more; did it change?")]
    Gone(usize),
    /// The history cannot be read again.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Explains a finding by its number in the text of the verdict on the same evidence.
///
/// # Errors
/// When there is no such finding, or the history cannot be read again.
pub fn explain(
    evidence: &mut Evidence,
    options: &Options,
    verdict: &Verdict,
    number: usize,
) -> Result<Explanation, ExplainError> {
    let Some((_, claim, finding)) = verdict.numbered().find(|(known, ..)| *known == number) else {
        return Err(match verdict.numbered().count() {
            0 => ExplainError::NoFindings(number),
            last => ExplainError::OutOfRange { asked: number, last },
        });
    };
    // Parts of the history stand in its place while its claim is asked about them.
    let history = std::mem::take(&mut evidence.history);
    let sought = Sought { number, claim: &claim.claim, finding };
    let explained = explain_by(evidence, options, &history, &sought);
    evidence.history = history;
    explained?.ok_or(ExplainError::Gone(number))
}

/// The finding that is asked about.
struct Sought<'a> {
    number: usize,
    claim: &'a str,
    finding: &'a Finding,
}

fn explain_by(
    evidence: &mut Evidence,
    options: &Options,
    history: &History,
    sought: &Sought<'_>,
) -> Result<Option<Explanation>, FormatError> {
    let Sought { number, claim, finding } = *sought;
    let Some((gathered, least, given_up)) = least_of(evidence, options, history, (claim, finding))?
    else {
        return Ok(None);
    };
    let mut probe =
        Probe::new(evidence, options, (claim, finding), &gathered, &gathered.surroundings);
    probe.by_any = true;
    let has_log = probe.look(|_, keys| {
        let mut of_key = keys.iter().filter(|view| Some(&view.key.key) == finding.key.as_ref());
        of_key.any(|view| view.log.is_some())
    });
    let words = words::of(finding, &gathered, has_log == Some(true));
    Ok(Some(Explanation {
        format: 1,
        number,
        claim: claim.to_owned(),
        finding: finding.clone(),
        operations: table::rows(&mut probe, &least),
        given_up,
        faults: table::faults(&gathered.surroundings, &least),
        beside: beside::of(&mut probe, &least),
        why: words.why,
        absent: words.absent,
        excuse: words.excuse,
        events: unit::events_of(&least),
        surroundings: gathered.surroundings,
    }))
}

/// The operations that a finding takes, and whether the search for less was given up; none when not
/// even the whole history shows it.
fn least_of(
    evidence: &mut Evidence,
    options: &Options,
    history: &History,
    sought: (&str, &Finding),
) -> Result<Option<(Gathered, Vec<Unit>, bool)>, FormatError> {
    let gathered = gather::own(history, sought.1)?;
    let keys = gathered.keys(sought.1);
    let mut of_keys = cut::to_keys(evidence, &keys);
    let surroundings = cut::surroundings(&gathered, &keys);
    for reach in Reach::ALL {
        let units = gather::within(reach, history, &gathered, sought.1)?;
        // Most findings need no evidence of other keys, and are the faster to ask about without it.
        let mut quick = Probe::new(&mut of_keys, options, sought, &gathered, &surroundings);
        let least = quick.stands(&units).then(|| minimise::least(&mut quick, units.clone()));
        let mut given_up = quick.has_given_up();
        let mut probe = Probe::new(evidence, options, sought, &gathered, &gathered.surroundings);
        let least = least.filter(|least| probe.stands(least));
        let least = match least {
            None if !probe.stands(&units) => continue,
            None => {
                let least = minimise::least(&mut probe, units);
                given_up = probe.has_given_up();
                least
            }
            Some(least) => least,
        };
        // A finding may name an operation that it does without, as the first of several readers.
        probe.by_any = true;
        let least = if given_up { least } else { minimise::units(&mut probe, least) };
        given_up |= probe.has_given_up();
        return Ok(Some((gathered, least, given_up)));
    }
    Ok(None)
}
