//! Claims that look across keys: each part gathers facts, and all facts together are judged.

use std::{any::Any, fmt};

use highwater_history::Key;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    evidence::Evidence,
    finding::{Findings, Permission},
    index::KeyId,
    view::{KeyView, RunView},
};

/// How a claim looks across keys.
pub trait Gather {
    /// What it has to know of the keys of one part. Facts leave the process that gathered them:
    /// they name operations and keys by numbers, which are the same in every part, and records by
    /// their values.
    type Facts: Serialize + DeserializeOwned + Send + 'static;

    /// Gathers them. What concerns no key is gathered by the first part alone.
    fn gather(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Self::Facts;

    /// Judges the facts of all parts; what is found must not depend on how keys were parted.
    fn judge(whole: &Whole<'_>, facts: Vec<Self::Facts>, findings: &mut Findings);
}

/// What is known where parts come together.
#[derive(Debug)]
pub struct Whole<'a> {
    /// Manifest and outcome.
    pub evidence: &'a Evidence,
    /// The names of all keys.
    pub keys: Vec<Key>,
}

impl Whole<'_> {
    /// The name of a key.
    pub fn key(&self, key: KeyId) -> &Key {
        &self.keys[key as usize]
    }

    /// Why the order of events of different processes proves nothing, as in [`RunView::untimed`].
    pub fn untimed(&self) -> Option<Permission> {
        self.evidence.untimed()
    }
}

/// Facts of a claim whose type only that claim knows.
pub(crate) trait AnyFacts: Any + Send {
    /// For a file.
    fn to_json(&self) -> serde_json::Result<Box<RawValue>>;
}

impl<T: Serialize + Any + Send> AnyFacts for T {
    fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }
}

/// Facts that one part gathered for one claim.
pub(crate) type Facts = Box<dyn AnyFacts>;

/// A [`Gather`] as a value.
#[derive(Clone, Copy)]
pub struct Across {
    pub(crate) gather: fn(&RunView<'_>, &[KeyView<'_>]) -> Facts,
    pub(crate) read: fn(&str) -> serde_json::Result<Facts>,
    pub(crate) judge: fn(&Whole<'_>, Vec<Facts>, &mut Findings),
}

impl Across {
    /// The way of looking across keys of one claim.
    pub const fn of<G: Gather>() -> Self {
        Self {
            gather: |run, keys| Box::new(G::gather(run, keys)),
            read: |json| Ok(Box::new(serde_json::from_str::<G::Facts>(json)?)),
            judge: |whole, facts, findings| {
                let facts = facts.into_iter().map(typed::<G::Facts>);
                G::judge(whole, facts.collect(), findings);
            },
        }
    }
}

impl fmt::Debug for Across {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Across").finish_non_exhaustive()
    }
}

fn typed<T: Any>(facts: Facts) -> T {
    let facts: Box<dyn Any> = facts;
    *facts.downcast().expect("facts are given to the claim that gathered them")
}
