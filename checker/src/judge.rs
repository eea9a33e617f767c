//! `check`: reads the history once, asks every claim, merges the answers into a verdict.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    ops::ControlFlow::{Break, Continue},
};

use highwater_history::{
    FormatError, Promise, Verdict, ahead::read_ahead, columns::Columns, reader::HistoryReader,
};
use serde::{Deserialize, Serialize};

use crate::{
    claim, data_loss,
    evidence::{Evidence, History},
    fold::JudgedPart,
    index::{Builder, Index, Unfit},
    leadership::Leadership,
    limits::Limits,
    merge, notes,
    part::Part,
    registry::Registry,
    told::Sayings,
    view::{KeyView, RunView},
    whole,
};

/// How to judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Promises that the user names; they override what the evidence says.
    pub promise: Promise,
    /// What waits may take at most.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// The claims to judge; none means those of the manifest, or all.
    pub claims: Option<Vec<String>>,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The history cannot be read as one.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A claim that does not exist was asked for.
    #[error("unknown claim {0:?}; `highwater list claims` names them")]
    UnknownClaim(String),
}

/// Judges the evidence of a run.
pub fn check(evidence: &Evidence, options: &Options) -> Result<Verdict, CheckError> {
    let whole = judge_part(evidence, options, Part::WHOLE)?;
    Ok(merge::verdict(evidence, options, vec![whole]))
}

/// Judges the keys of one part.
pub(crate) fn judge_part(
    evidence: &Evidence,
    options: &Options,
    part: Part,
) -> Result<JudgedPart, CheckError> {
    Read::of_part(evidence, options, part)?.judge_part(options)
}

/// A history that was read, or a part of it: it can be judged by one promise after the other.
pub(crate) struct Read<'a> {
    evidence: &'a Evidence,
    chosen: Vec<String>,
    read: ReadHistory,
}

impl<'a> Read<'a> {
    /// Reads all of it, for the claims that are chosen.
    pub(crate) fn of(evidence: &'a Evidence, options: &Options) -> Result<Self, CheckError> {
        Self::of_part(evidence, options, Part::WHOLE)
    }

    fn of_part(evidence: &'a Evidence, options: &Options, part: Part) -> Result<Self, CheckError> {
        let chosen = chosen_claims(evidence, options)?;
        let read = read_history(evidence, part)?;
        Ok(Self { evidence, chosen, read })
    }

    /// What was read otherwise, to be judged by the claims that are chosen.
    pub(crate) fn of_history(
        evidence: &'a Evidence,
        options: &Options,
        read: ReadHistory,
    ) -> Result<Self, CheckError> {
        Ok(Self { evidence, chosen: chosen_claims(evidence, options)?, read })
    }

    /// What the history holds.
    pub(crate) fn index(&self) -> &Index {
        &self.read.0
    }

    /// The verdict by what `options` promises.
    pub(crate) fn judge(&self, options: &Options) -> Result<Verdict, CheckError> {
        Ok(merge::verdict(self.evidence, options, vec![self.judge_part(options)?]))
    }

    fn judge_part(&self, options: &Options) -> Result<JudgedPart, CheckError> {
        let Self { evidence, chosen, read: (index, unfit, dropped_line) } = self;
        whole::fits_manifest(evidence, index)?;
        let notes = notes::of(evidence, options, chosen, index, *dropped_line);
        let judge = |run: &RunView<'_>, keys: &[KeyView<'_>]| {
            JudgedPart::of(run, keys, (chosen, unfit.clone()), notes)
        };
        Ok(viewed(evidence, options, (index, dropped_line.is_some()), judge))
    }
}

/// Shows a run as the claims see it, for measurements beside its verdict.
pub fn look<T>(
    evidence: &Evidence,
    options: &Options,
    look: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
) -> Result<T, CheckError> {
    let (index, _, dropped_line) = read_history(evidence, Part::WHOLE)?;
    Ok(viewed(evidence, options, (&index, dropped_line.is_some()), look))
}

pub(crate) fn viewed<T>(
    evidence: &Evidence,
    options: &Options,
    (index, is_cut): (&Index, bool),
    look: impl FnOnce(&RunView<'_>, &[KeyView<'_>]) -> T,
) -> T {
    let registry = Registry::of(evidence, &options.promise);
    let leadership = Leadership::of(evidence, &registry);
    let sayings = Sayings::of(evidence, index);
    let losses = data_loss::of(index);
    let run = RunView {
        evidence,
        index,
        leadership: &leadership,
        registry: &registry,
        losses: &losses,
        sayings: &sayings,
        said: &options.promise,
        limits: options.limits,
        is_cut,
    };
    look(&run, &run.keys())
}

/// The claims to judge, in order.
pub(crate) fn chosen_claims(
    evidence: &Evidence,
    options: &Options,
) -> Result<Vec<String>, CheckError> {
    let known = |name: &&String| claim::entry(name).is_some();
    if let Some(asked) = &options.claims {
        return match asked.iter().find(|name| !known(name)) {
            Some(name) => Err(CheckError::UnknownClaim(name.clone())),
            None => Ok(without_repeats(asked)),
        };
    }
    let named = evidence.manifest.as_ref().map(|manifest| manifest.claims.clone());
    match named.filter(|claims| !claims.is_empty()) {
        Some(claims) => Ok(without_repeats(&claims)),
        None => Ok(claim::TABLE.iter().map(|(name, ..)| (*name).to_owned()).collect()),
    }
}

/// Each name once, in order: a claim that is judged twice counts twice.
pub(crate) fn without_repeats(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(*name)).cloned().collect()
}

/// Events of a history in memory that become columns together.
const EVENTS_AT_ONCE: usize = 1 << 12;

/// What the history holds, why it is unfit, and the line from which on it is missing.
pub(crate) type ReadHistory = (Index, Option<Unfit>, Option<u64>);

pub(crate) fn read_history(evidence: &Evidence, part: Part) -> Result<ReadHistory, FormatError> {
    let promises = evidence.manifest.as_ref().map(|manifest| &manifest.promises);
    let mut builder = Builder::of_part(promises, part);
    let mut dropped_line = None;
    let mut unfit = None;
    match &evidence.history {
        History::Events(events) => {
            let mut lines = 1..;
            for some in events.chunks(EVENTS_AT_ONCE) {
                let mut columns = Columns::default();
                let each = some.iter().zip(&mut lines);
                each.for_each(|(event, line)| columns.push(line, event.clone()));
                unfit = builder.observe(&columns).err();
                if unfit.is_some() {
                    break;
                }
            }
        }
        History::File(file) => {
            let read = read_ahead(HistoryReader::open(file)?, |columns| {
                builder.observe(columns).map_or_else(Break, Continue)
            })?;
            unfit = read.broke_off;
            dropped_line = read.dropped_line;
        }
    }
    Ok((builder.finish(), unfit, dropped_line))
}
