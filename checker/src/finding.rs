//! What a claim finds: exact counts, and some findings in detail.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use highwater_history::{
    Key, NodeId, Offset, TimeNs,
    verdict::{AnomalyCounts, Finding, Judgement},
};
use serde::{Deserialize, Serialize};

/// What permits an anomaly: a clause of contract part c and what fulfils it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Permission {
    /// The clause, as `c.2 acks=1`.
    pub clause: String,
    /// The event or word that fulfils it.
    pub fulfilled_by: String,
}

/// Whether an anomaly is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// Nothing allows it.
    Forbidden,
    /// A clause does.
    Permitted(Permission),
    /// The evidence that would decide is not there.
    Undecided(String),
}

impl Ruling {
    /// This ruling if it permits, else the other.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Permitted(_) => self,
            Self::Forbidden => other(),
            Self::Undecided(_) => match other() {
                Self::Forbidden => self,
                ruling => ruling,
            },
        }
    }

    /// Both must permit; a prohibition wins.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Forbidden, _) | (_, Self::Forbidden) => Self::Forbidden,
            (Self::Undecided(why), _) | (_, Self::Undecided(why)) => Self::Undecided(why),
            (permitted, Self::Permitted(_)) => permitted,
        }
    }
}

/// Loss by one cause: how much, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Records lost.
    pub records: u64,
    /// Lowest and highest offset.
    pub offsets: (Offset, Offset),
    /// First and last acknowledgement, nanoseconds of the run.
    pub acknowledged: (TimeNs, TimeNs),
    /// Leaders that acknowledged them.
    pub leaders: BTreeSet<NodeId>,
}

/// Loss by key and by what permits it; none for what nothing does.
pub type Losses = BTreeMap<(Key, Option<Permission>), Loss>;

/// Findings of one claim; counts are exact, details are capped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Findings {
    /// Violations by name.
    #[serde(skip_serializing_if = "AnomalyCounts::is_empty")]
    pub anomalies: AnomalyCounts,
    /// Permitted ones by name.
    #[serde(skip_serializing_if = "AnomalyCounts::is_empty")]
    pub permitted: AnomalyCounts,
    /// Permitted ones by clause.
    #[serde(skip_serializing_if = "AnomalyCounts::is_empty")]
    pub clauses: AnomalyCounts,
    /// Details of violations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Finding>,
    /// Details of permitted ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Finding>,
    /// Details left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Why the claim could not decide everything; the first reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// Why the claim has nothing to judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
    /// What was measured beside the anomalies, by name.
    #[serde(skip_serializing_if = "AnomalyCounts::is_empty")]
    pub measured: AnomalyCounts,
    /// How much was lost.
    #[serde(skip_serializing_if = "Losses::is_empty", with = "pairs")]
    pub losses: Losses,
    /// The only finding whose details are kept, however many there are; none: the first ones.
    #[serde(skip)]
    sought: Option<Arc<Finding>>,
}

/// How many details of a kind there is still room for.
#[derive(Debug)]
pub(crate) struct Room {
    violations: usize,
    allowed: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { violations: Findings::CAP, allowed: Findings::CAP }
    }
}

impl Findings {
    /// Details kept of violations, and as many of permitted ones.
    const CAP: usize = 50;

    /// None yet, of which only those are to be kept in detail that are about the same as one.
    pub fn seeking(sought: &Finding) -> Self {
        Self { sought: Some(Arc::new(sought.clone())), ..Self::default() }
    }

    /// Counts an anomaly as its ruling says; `detail` is asked only while there is room.
    pub fn rule(&mut self, anomaly: &str, ruling: Ruling, detail: impl FnOnce() -> Finding) {
        match ruling {
            Ruling::Forbidden => self.violation(anomaly, detail),
            Ruling::Permitted(permission) => self.permit(anomaly, permission, detail),
            Ruling::Undecided(why) => self.undecided(why),
        }
    }

    /// Counts a violation.
    pub fn violation(&mut self, anomaly: &str, detail: impl FnOnce() -> Finding) {
        add(&mut self.anomalies, anomaly, 1);
        let detail = || Finding { anomaly: anomaly.to_owned(), ..detail() };
        self.left_out += keep(&mut self.violations, self.sought.as_deref(), anomaly, detail);
    }

    /// Counts what a clause permits.
    pub fn permit(
        &mut self,
        anomaly: &str,
        permission: Permission,
        detail: impl FnOnce() -> Finding,
    ) {
        add(&mut self.permitted, anomaly, 1);
        add(&mut self.clauses, &permission.clause, 1);
        let Permission { clause, fulfilled_by } = permission;
        let detail = || Finding {
            anomaly: anomaly.to_owned(),
            clause: Some(clause),
            fulfilled_by: Some(fulfilled_by),
            ..detail()
        };
        self.left_out += keep(&mut self.allowed, self.sought.as_deref(), anomaly, detail);
    }

    /// Adds to a measurement, which stands among the verdict's metrics and accuses nobody.
    pub fn count(&mut self, name: &str, n: u64) {
        add(&mut self.measured, name, n);
    }

    /// Notes that nothing in the history is what the claim speaks of.
    pub fn not_applicable(&mut self, why: &str) {
        self.not_applicable = Some(why.to_owned());
    }

    /// The claim's judgement.
    pub fn judgement(&self) -> Judgement {
        if !self.anomalies.is_empty() {
            Judgement::Invalid
        } else if self.undecided.is_some() {
            Judgement::Unknown
        } else if !self.permitted.is_empty() {
            Judgement::PermittedOnly
        } else if self.not_applicable.is_some() {
            Judgement::NotApplicable
        } else {
            Judgement::Valid
        }
    }

    /// Notes that something could not be decided.
    pub fn undecided(&mut self, why: String) {
        self.undecided.get_or_insert(why);
    }

    /// Adds one lost record to what a cause cost: its offset, when and by whom it was acknowledged.
    pub fn lose(
        &mut self,
        key: &Key,
        permission: Option<&Permission>,
        offset: Offset,
        (at, leader): (TimeNs, Option<NodeId>),
    ) {
        let loss = self.losses.entry((key.clone(), permission.cloned())).or_insert(Loss {
            records: 0,
            offsets: (offset, offset),
            acknowledged: (at, at),
            leaders: BTreeSet::new(),
        });
        loss.records += 1;
        loss.offsets = (loss.offsets.0.min(offset), loss.offsets.1.max(offset));
        loss.acknowledged = (loss.acknowledged.0.min(at), loss.acknowledged.1.max(at));
        loss.leaders.extend(leader);
    }

    /// Leaves out details for which there is no room behind those of keys before.
    pub(crate) fn fit(&mut self, room: &mut Room) {
        self.left_out += fit(&mut self.violations, &mut room.violations);
        self.left_out += fit(&mut self.allowed, &mut room.allowed);
    }

    /// Takes another key's findings in.
    pub fn merge(&mut self, other: Self) {
        merge_counts(&mut self.anomalies, &other.anomalies);
        merge_counts(&mut self.permitted, &other.permitted);
        merge_counts(&mut self.clauses, &other.clauses);
        merge_counts(&mut self.measured, &other.measured);
        self.left_out = self.left_out.saturating_add(other.left_out);
        self.left_out += take(&mut self.violations, other.violations);
        self.left_out += take(&mut self.allowed, other.allowed);
        if let Some(why) = other.undecided {
            self.undecided(why);
        }
        self.not_applicable = self.not_applicable.take().or(other.not_applicable);
        self.losses.extend(other.losses);
    }
}

/// Keeps a finding while there is room, or if it is the one that is sought; how many were left out.
fn keep(
    kept: &mut Vec<Finding>,
    sought: Option<&Finding>,
    anomaly: &str,
    detail: impl FnOnce() -> Finding,
) -> u64 {
    let detail = || {
        let mut detail = detail();
        once_each(&mut detail.events);
        detail
    };
    match sought {
        None if kept.len() < Findings::CAP => kept.push(detail()),
        None => return 1,
        Some(sought) if sought.anomaly != anomaly => {}
        Some(sought) => kept.extend(Some(detail()).filter(|found| is_about_same(found, sought))),
    }
    0
}

/// Leaves out events that stand there already: one operation may be sender and reader.
fn once_each(events: &mut Vec<u64>) {
    let mut seen = BTreeSet::new();
    events.retain(|event| seen.insert(*event));
}

/// Whether two findings are of one anomaly at one place, permitted by one clause or by none.
pub(crate) fn is_about_same(one: &Finding, other: &Finding) -> bool {
    let place = |finding: &Finding| (finding.value, finding.offset);
    one.anomaly == other.anomaly
        && one.key == other.key
        && place(one) == place(other)
        && one.clause == other.clause
}

fn add(counts: &mut AnomalyCounts, name: &str, count: u64) {
    let counted = counts.entry(name.to_owned()).or_default();
    *counted = counted.saturating_add(count);
}

/// Adds counts by name.
pub(crate) fn merge_counts(into: &mut AnomalyCounts, from: &AnomalyCounts) {
    for (name, count) in from {
        add(into, name, *count);
    }
}

fn take(into: &mut Vec<Finding>, from: Vec<Finding>) -> u64 {
    let room = Findings::CAP.saturating_sub(into.len());
    let left_out = from.len().saturating_sub(room);
    into.extend(from.into_iter().take(room));
    left_out as u64
}

fn fit(details: &mut Vec<Finding>, room: &mut usize) -> u64 {
    let left_out = details.len().saturating_sub(*room);
    details.truncate(*room);
    *room -= details.len();
    left_out as u64
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A map whose keys are no text, as a list of pairs.
mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Losses;

    pub fn serialize<S: Serializer>(losses: &Losses, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(losses)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Losses, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}
