//! Claims: each file decides one guarantee; the file's name is the claim's.
//!
//! A claim is a fold over keys: [`Judge::Key`] sees one key with everything known of it and leaves
//! [`Findings`], which are merged in the order of the keys. What concerns no key is judged once,
//! [`Judge::RunAndKeys`]; a claim that looks across keys says so with [`Judge::Across`]. So each
//! key can be judged apart from the others.

use crate::{
    across::Across,
    finding::Findings,
    view::{KeyView, RunView},
};

/// One claim.
#[derive(Debug)]
pub struct Entry {
    /// The contract rules that it watches.
    pub rules: &'static [u16],
    /// The clauses of contract part c that it holds losses against: it finds what they do not
    /// permit.
    pub clauses: &'static [&'static str],
    /// The kinds of evidence that it judges by, `D1` to `D19`; empty for rules that have none.
    pub evidence: &'static [&'static str],
    /// The names of the anomalies that it may report.
    pub anomalies: &'static [&'static str],
    /// What it needs beside the history.
    pub needs: &'static [Need],
    /// Whether a history alone may show something of it; else it does not apply where nothing is
    /// there of what it needs.
    pub of_history: bool,
    /// Whether a violation is final as soon as the history shows it.
    pub decides: Decides,
    /// How it judges.
    pub judge: Judge,
}

/// Evidence beside the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Dumps of the replicas' logs.
    Dumps,
    /// Elections: the metadata log or samples.
    Elections,
    /// What nodes said of themselves while the run lasted.
    Samples,
    /// How the run ended.
    Outcome,
}

/// When a claim may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// What it finds in a part of the history is found in the whole.
    BeforeTheEnd,
    /// Later events may excuse what it finds.
    AtTheEnd,
}

/// How a claim judges.
#[derive(Clone, Copy, Debug)]
pub enum Judge {
    /// Key by key.
    Key(fn(&KeyView<'_>, &mut Findings)),
    /// What concerns no key, then key by key.
    RunAndKeys(fn(&RunView<'_>, &mut Findings), fn(&KeyView<'_>, &mut Findings)),
    /// By facts that are gathered of all keys.
    Across(Across),
}

/// The claim of a name.
pub(crate) fn entry(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|(known, ..)| *known == name).map(|(_, _, entry)| *entry)
}

include!(concat!(env!("OUT_DIR"), "/claim_table.rs"));
