//! Whether history and logs are those of the run that manifest and outcome tell of.

use std::path::Path;

use highwater_history::{FormatError, manifest::Kind, outcome::Ended};

use crate::{
    evidence::{Evidence, History},
    index::{Index, KeyId},
    view::{KeyView, RunView},
};

/// Refuses a history whose keys stand for topics that the manifest does not know.
pub(crate) fn fits_manifest(evidence: &Evidence, index: &Index) -> Result<(), FormatError> {
    let topics = evidence.manifest.iter().flat_map(|manifest| &manifest.target.topics);
    let known: Vec<&str> = topics.map(|topic| topic.name.as_str()).collect();
    let said = index.keys.iter().filter_map(|key| key.topic.as_ref());
    let stranger = said.filter(|_| !known.is_empty()).find(|of| !known.contains(&&*of.topic));
    let Some(stranger) = stranger else { return Ok(()) };
    let file = match &evidence.history {
        History::File(file) => file.path.as_path(),
        History::Events(_) => Path::new("history"),
    };
    let topic = &stranger.topic;
    let why = format!("`open-topic`: the manifest has no topic {topic:?}; is this its history?");
    Err(FormatError::document(file, why))
}

/// Keys of a recovered run of which no final log is known although every replica was dumped.
pub(crate) fn without_final_log(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Vec<(KeyId, String)> {
    let complete = run.evidence.outcome.as_ref().is_some_and(|outcome| {
        let recovered = outcome.recovery.as_ref().is_some_and(|recovery| recovery.recovered);
        outcome.ended == Ended::Complete && outcome.events.is_some() && recovered
    });
    if !complete || run.evidence.cannot_have(Kind::Dumps) {
        return Vec::new();
    }
    let without = keys.iter().filter(|view| view.log.is_none() && !view.key.records.is_empty());
    without.map(|view| (view.id, format!("no final log of {}'s leader", view.key.key))).collect()
}
