//! `verdict.json`: what was judged, claim by claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    format::Document,
    outcome::{Assertion, FaultOutcome},
    types::{Key, NodeId, Offset, TimeNs, Value},
};

/// Counts by anomaly name.
pub type AnomalyCounts = BTreeMap<String, u64>;

/// The judgement of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Format version, 1.
    pub format: u64,
    /// The judgement.
    pub verdict: Validity,
    /// Exit status of a program that ends with this verdict.
    pub exit: u8,
    /// Why, one sentence.
    pub reason: String,
    /// Violations by name over all claims; exact.
    pub anomalies: AnomalyCounts,
    /// The same shapes where a clause allows them, and kinds that never invalidate; exact.
    pub permitted: AnomalyCounts,
    /// Measurements: amounts of loss and the like, by name.
    pub metrics: BTreeMap<String, serde_json::Value>,
    /// What the history holds.
    pub counts: Counts,
    /// Every claim.
    pub claims: Vec<ClaimVerdict>,
    /// Every fault.
    pub faults: Vec<FaultOutcome>,
    /// Every floor.
    pub coverage: Vec<Coverage>,
    /// What the schedule asserts of its outcome and expects of the counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// What was assumed, dropped or could not be had.
    pub notes: Vec<String>,
    /// The one command that repeats the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

impl Document for Verdict {
    const WHAT: &'static str = "verdict";
    const FORMAT: u64 = 1;
}

impl Verdict {
    /// The findings that are listed, each with its number and its claim: violations first, then
    /// what is permitted. Numbers begin at 1.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &ClaimVerdict, &Finding)> {
        let of_claims = |permitted: bool| {
            let of_claim = move |claim| Self::listed(claim, permitted);
            self.claims.iter().flat_map(of_claim)
        };
        let all = of_claims(false).chain(of_claims(true));
        all.zip(1..).map(|((claim, finding), number)| (number, claim, finding))
    }

    fn listed(
        claim: &ClaimVerdict,
        permitted: bool,
    ) -> impl Iterator<Item = (&ClaimVerdict, &Finding)> {
        let of_kind = move |finding: &&Finding| finding.clause.is_some() == permitted;
        claim.findings.iter().filter(of_kind).map(move |finding| (claim, finding))
    }
}

/// A judgement; the order is that of [`Validity::merge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Every promise was kept, and enough happened to say so.
    Valid,
    /// Too little happened.
    Vacuous,
    /// Not decidable.
    Unknown,
    /// A promise was broken.
    Invalid,
}

impl Validity {
    /// The judgement of two parts together: the worse one.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        self.max(other)
    }

    /// Exit status of a program.
    pub fn exit(self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Invalid => 1,
            Self::Unknown => 2,
            Self::Vacuous => 3,
        }
    }

    /// The word in `verdict.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unknown => "unknown",
            Self::Vacuous => "vacuous",
        }
    }
}

/// One claim's judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// What it claims holds, and nothing of its kind was seen.
    Valid,
    /// All that it found is permitted by a clause.
    PermittedOnly,
    /// Nothing in this history is what it speaks of.
    NotApplicable,
    /// The evidence does not decide it.
    Unknown,
    /// It does not hold.
    Invalid,
}

impl Judgement {
    /// The word in `verdict.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::PermittedOnly => "permitted-only",
            Self::NotApplicable => "not-applicable",
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
        }
    }
}

/// What one cause cost one key: `metrics` lists these by the names [`KeyLoss::PERMITTED`] and,
/// where no clause permits it, [`KeyLoss::FORBIDDEN`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyLoss {
    /// Whose records.
    pub key: Key,
    /// The clause of the contract's part c that permits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// The event that fulfils the clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fulfilled_by: Option<String>,
    /// How many acknowledged records.
    pub records: u64,
    /// Their payloads, where the manifest says how big one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Lowest and highest offset that was acknowledged.
    pub offsets: (Offset, Offset),
    /// First acknowledgement.
    pub acknowledged_from_ns: TimeNs,
    /// Last acknowledgement.
    pub acknowledged_to_ns: TimeNs,
    /// The leaders that had acknowledged them, where the history tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged_by: Vec<NodeId>,
}

impl KeyLoss {
    /// The measurement's name where a clause permits the loss.
    pub const PERMITTED: &'static str = "permitted-loss";
    /// The measurement's name where none does.
    pub const FORBIDDEN: &'static str = "forbidden-loss";
}

/// What the history holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Client operations.
    pub ops: u64,
    /// Operations that ended ok.
    pub ok: u64,
    /// Operations that ended fail.
    pub fail: u64,
    /// Operations that ended info, or not at all.
    pub info: u64,
    /// Records that were asked to be sent.
    pub sent: u64,
    /// Records that were acknowledged.
    pub acknowledged: u64,
    /// Records that a poll returned.
    pub read: u64,
}

/// One claim's part of the judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// The claim's name.
    pub claim: String,
    /// What it claims, one sentence.
    pub title: String,
    /// The contract rules that it watches.
    pub rules: Vec<u16>,
    /// Its judgement.
    pub verdict: Judgement,
    /// Why it is unknown, or not applicable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Violations by name; exact.
    pub anomalies: AnomalyCounts,
    /// Permitted ones by name; exact.
    pub permitted: AnomalyCounts,
    /// Permitted ones by the clause that permits them; exact.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: AnomalyCounts,
    /// Some of them in detail, violations first.
    pub findings: Vec<Finding>,
    /// How many findings are not listed.
    #[serde(default)]
    pub findings_left_out: u64,
}

/// One anomaly in detail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The anomaly's name.
    pub anomaly: String,
    /// The key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Where it is, or was said to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Offset>,
    /// The contract rule that the evidence breaks.
    pub rule: u16,
    /// The kind of evidence, `D1` to `D19`.
    pub evidence: String,
    /// Indexes of the history events that show it.
    pub events: Vec<u64>,
    /// What happened, one sentence.
    pub why: String,
    /// The clause of contract part c that permits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// What fulfils the clause: an election, a leadership change, the user's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fulfilled_by: Option<String>,
}

/// A floor and what was got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// What is counted.
    pub floor: String,
    /// At least so many were wanted.
    pub wanted: u64,
    /// So many happened.
    pub got: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Validity;

    fn any() -> impl Strategy<Value = Validity> {
        prop_oneof![
            Just(Validity::Valid),
            Just(Validity::Vacuous),
            Just(Validity::Unknown),
            Just(Validity::Invalid),
        ]
    }

    proptest! {
        #[test]
        fn merging_is_a_lattice(a in any(), b in any(), c in any()) {
            prop_assert_eq!(a.merge(b), b.merge(a));
            prop_assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
            prop_assert_eq!(a.merge(a), a);
            prop_assert_eq!(a.merge(Validity::Valid), a);
            prop_assert_eq!(a.merge(Validity::Invalid), Validity::Invalid);
        }
    }
}
