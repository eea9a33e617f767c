//! The schedule format: settings that it needs, steps, and what should come of it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use highwater_history::manifest::Expectation;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{Source, Span, mentions, when::Condition};
use crate::fault;

/// The version that this program reads.
pub const FORMAT: u64 = 1;

/// Why there is no schedule.
#[derive(Debug, Error)]
pub enum ScheduleError {
    /// Neither a name nor a file.
    #[error("unknown schedule `{name}`; known: {known}, or a FILE.json")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no schedule.
    #[error("{}: line {line}: {problem}", path.display())]
    Malformed {
        /// The file, or the schedule's name.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, the field named.
        problem: String,
    },
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Format version, 1.
    pub format: u64,
    /// Its name.
    pub name: String,
    /// One sentence.
    #[serde(default)]
    pub about: String,
    /// What it needs; an option that contradicts it is refused.
    #[serde(default)]
    pub settings: ScheduleSettings,
    /// What happens, in this order.
    pub steps: Vec<Step>,
    /// Whether the steps start over while there is time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    /// What the verdict should show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

/// Settings that a schedule needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSettings {
    /// Properties of all nodes, Kafka's names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub broker: BTreeMap<String, String>,
    /// Settings of all topics, Kafka's names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub topic: BTreeMap<String, String>,
    /// Options of `run`, without their dashes: `acks`, `rate`, `timing`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// Time-outs of clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<highwater_workloads::settings::ClientTimeouts>,
    /// Replicas of every partition, in this order; else each partition starts at another broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Vec<i32>>,
    /// Feature levels that the cluster must begin with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, String>,
    /// Mutants to switch on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<String>,
}

/// One step. It waits for `when`, measured from the start of the step before, then does what it
/// says; the step after may begin while a fault of this one lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What must be true first; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// How long `when` is waited for; then the fault is indeterminate.
    #[serde(default = "default_within", skip_serializing_if = "is_default_within")]
    pub within: Span,
    /// Names for what is observed when the step begins: `{"old": "leader(all-0)"}`.
    #[serde(rename = "let", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bind: BTreeMap<String, super::when::Expr>,
    /// What to do.
    #[serde(flatten)]
    pub act: Do,
}

/// What a step does: at most one of a fault and a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Do {
    /// A fault by its name.
    #[serde(rename = "do", default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The fault's parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub with: Value,
    /// How long the fault lasts; without `for` and `until` it lasts to the end of the steps.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// What ends the fault, at the latest after `within`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Condition>,
    /// What must come true within `within`; the result is an assertion of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Condition>,
    /// What must stay true all the time of `for`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Condition>,
    /// What `check` or `always` shows, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

const DEFAULT_WITHIN: Span = Span(30_000);

fn default_within() -> Span {
    DEFAULT_WITHIN
}

fn is_default_within(span: &Span) -> bool {
    *span == DEFAULT_WITHIN
}

/// Reads a schedule; `path` names it in errors.
///
/// # Errors
/// When it is malformed: line and field are named.
pub fn parse(path: &Path, text: &str) -> Result<Schedule, ScheduleError> {
    let source = Source::new(path, text);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let schedule: Schedule =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let (field, line) = (error.path().to_string(), error.inner().line());
            source.wrong_at(line, &format!("field `{field}`: {}", error.inner()))
        })?;
    if schedule.format != FORMAT {
        let found = schedule.format;
        let problem =
            format!("schedule format {found} is unknown, this program reads format {FORMAT}");
        return Err(source.wrong_at(source.line_of("format"), &problem));
    }
    if !is_name(&schedule.name) {
        return Err(source.wrong("name", "write letters, digits, `-`, `_` and single dots"));
    }
    if schedule.repeat && schedule.steps.is_empty() {
        return Err(source.wrong("repeat", "there are no steps to repeat"));
    }
    if let Some(count) = schedule.expect.iter().map(|e| &e.count).find(|count| !is_count(count)) {
        return Err(source.wrong("expect", &format!("the verdict has no count `{count}`")));
    }
    for (nth, expected) in schedule.expect.iter().enumerate() {
        let bounds = expected.at_least.zip(expected.at_most);
        if let Some((least, most)) = bounds.filter(|(least, most)| least > most) {
            let why = format!("at least {least} and at most {most} cannot both hold");
            return Err(source.wrong(&format!("expect[{nth}].at_least"), &why));
        }
    }
    let mut before = None;
    for (nth, step) in schedule.steps.iter().enumerate() {
        step.validate()
            .and_then(|()| step.comes_in_time(before))
            .map_err(|(field, why)| source.wrong(&format!("steps[{nth}].{field}"), &why))?;
        before = Some(step);
    }
    mentions::all_bound(&schedule.steps)
        .map_err(|stray| source.wrong(&stray.field, &stray.problem))?;
    Ok(schedule)
}

impl Step {
    /// Refuses an `after` that is longer than `when` or `check` is waited for. `when` counts it
    /// from the start of the step before, and is waited for from that one's end.
    fn comes_in_time(&self, before: Option<&Step>) -> Result<(), (&'static str, String)> {
        let took = before.map_or(0, Step::takes_at_most_ms);
        for (field, condition, took) in [("when", &self.when, took), ("check", &self.act.check, 0)]
        {
            let after = condition.as_ref().and_then(Condition::after);
            let longest = Span(self.within.0.saturating_add(took));
            if let Some(after) = after.filter(|after| *after > longest) {
                let within = Span(after.0 - took);
                let why = format!(
                    "it cannot come true: it needs {after} and is waited for only {}; write \
                     \"within\": \"{within}\" or more",
                    self.within
                );
                return Err((field, why));
            }
        }
        Ok(())
    }

    /// How long what it does takes before the next step waits; a fault lasts on beside that.
    fn takes_at_most_ms(&self) -> u64 {
        match &self.act {
            Do { check: Some(_), .. } => self.within.0,
            Do { always: Some(_), lasts: Some(lasts), .. } => lasts.0,
            _ => 0,
        }
    }

    fn validate(&self) -> Result<(), (&'static str, String)> {
        let Do { fault, with, lasts, until, check, always, claim } = &self.act;
        let kinds = [fault.is_some(), check.is_some(), always.is_some()];
        if kinds.iter().filter(|is| **is).count() > 1 {
            return Err(("do", "a step has one of `do`, `check` and `always`".into()));
        }
        if let Some(fault) = fault {
            // Names stand for what is known only when the step begins.
            let read = fault::parse(fault, &super::bind::sample(with))
                .map_err(|error| ("do", error.to_string()))?;
            read.makes_sense().map_err(|why| ("with", format!("fault `{fault}`: {why}")))?;
        }
        let lacks = |field, verb: &str| Err((field, format!("a step without {verb} has none")));
        if !with.is_null() && fault.is_none() {
            return lacks("with", "`do`");
        }
        if until.is_some() && fault.is_none() {
            return lacks("until", "`do`");
        }
        if lasts.is_some() && fault.is_none() && always.is_none() {
            return lacks("for", "`do` or `always`");
        }
        if claim.is_some() && check.is_none() && always.is_none() {
            return lacks("claim", "`check` or `always`");
        }
        if lasts.is_some() && until.is_some() {
            return Err(("for", "a step has `for` or `until`, not both".into()));
        }
        if (check.is_some() || always.is_some()) && claim.is_none() {
            return Err(("claim", "missing: say in one sentence what is checked".into()));
        }
        if always.is_some() && lasts.is_none() {
            return Err(("for", "missing: how long must it stay true?".into()));
        }
        Ok(())
    }
}

/// The run folder bears the name.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.chars().all(plain) && !name.starts_with('.') && !name.contains("..")
}

/// Whether a verdict has this count.
fn is_count(count: &str) -> bool {
    const COUNTS: [&str; 7] = ["ops", "ok", "fail", "info", "sent", "acknowledged", "read"];
    let claims = highwater_checker::claim::TABLE.iter();
    let mut anomalies = claims.flat_map(|(_, _, entry)| entry.anomalies);
    match count.split_once('.') {
        Some(("anomalies" | "permitted", name)) => anomalies.any(|anomaly| *anomaly == name),
        Some(("counts", name)) => COUNTS.contains(&name),
        _ => false,
    }
}
