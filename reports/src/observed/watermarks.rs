//! What each replica's high watermark was, by its last sample before a moment.

use std::collections::BTreeMap;

use highwater_history::{
    Key, NodeId, Offset, TimeNs,
    samples::{Said, Sample},
};

/// High watermarks by replica, in order of time.
#[derive(Default)]
pub(crate) struct Watermarks(BTreeMap<(NodeId, Key), Vec<(TimeNs, Offset)>>);

impl Watermarks {
    /// Those of the keys that are of interest.
    pub(crate) fn of(samples: &[Sample], wanted: impl Fn(&Key) -> bool) -> Self {
        let mut marks: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for sample in samples {
            if let Said::Replica(state) = &sample.said
                && let Some(hw) = state.hw.filter(|_| wanted(&state.key))
            {
                let of = marks.entry((sample.node, state.key.clone())).or_default();
                of.push((sample.answered, hw));
            }
        }
        Self(marks)
    }

    /// The last one that the replica told before `at_ns`.
    pub(crate) fn before(&self, node: NodeId, key: &Key, at_ns: TimeNs) -> Option<Offset> {
        let marks = self.0.get(&(node, key.clone()))?;
        let after = marks.partition_point(|(answered, _)| *answered <= at_ns);
        marks[..after].last().map(|(_, hw)| *hw)
    }
}
