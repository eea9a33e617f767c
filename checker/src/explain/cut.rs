//! Evidence cut down to some keys: whoever asks often asks of little.

use std::collections::BTreeSet;

use highwater_history::{Event, EventValue, Key, samples::Said};

use super::gather::Gathered;
use crate::Evidence;

/// What the evidence beside the history says of these keys, and of none.
pub(super) fn to_keys(evidence: &Evidence, keys: &BTreeSet<Key>) -> Evidence {
    let mut cut = without_lines(evidence);
    let of_keys = |said: &Said| match said {
        Said::Replica(state) => keys.contains(&state.key),
        Said::Partition(state) => keys.contains(&state.key),
        Said::Silent { .. } => true,
    };
    let samples = evidence.samples.iter().filter(|sample| of_keys(&sample.said));
    cut.samples = samples.cloned().collect();
    let dumps = evidence.dumps.iter().filter(|(_, dump)| keys.contains(&dump.header.key));
    cut.dumps = dumps.cloned().collect();
    cut.metadata.clone_from(&evidence.metadata);
    cut
}

/// Evidence without samples, dumps, metadata and history.
pub(super) fn without_lines(evidence: &Evidence) -> Evidence {
    Evidence {
        manifest: evidence.manifest.clone(),
        metadata_is_cut: evidence.metadata_is_cut,
        lacks_dumps: evidence.lacks_dumps,
        outcome: evidence.outcome.clone(),
        ..Evidence::default()
    }
}

/// What stands beside the operations, of the keys only those that these operations name.
pub(super) fn surroundings(gathered: &Gathered, keys: &BTreeSet<Key>) -> Vec<Event> {
    let speaks = |event: &&Event| match &event.value {
        EventValue::OpenTopic(topic) => keys.contains(&topic.key),
        _ => true,
    };
    gathered.surroundings.iter().filter(speaks).cloned().collect()
}
