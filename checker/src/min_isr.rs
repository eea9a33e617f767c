//! Which `min.insync.replicas` a leader may have gone by: it may be changed while it leads (c.4).

use highwater_history::TimeNs;

use crate::{
    faults,
    insync::lag::controllers_of,
    registry::{Registration, Registry},
    view::KeyView,
};

/// How long a leader's replica may take to apply what the controller committed.
pub const APPLIED_NS: TimeNs = 1_000_000_000;

impl KeyView<'_> {
    /// The least that a state's leader may have gone by at some instant of a time (rules 17, 37):
    /// also a value from before, as long as it may not have heard of the new one. None where
    /// nothing tells.
    pub fn least_min_isr(
        &self,
        state: &Registration,
        (from, to): (TimeNs, TimeNs),
    ) -> Option<usize> {
        let since = self.heard_last(state, (from.saturating_sub(APPLIED_NS), to));
        // Before the partition was there nobody led it: what its topic was made with is known.
        let made = self.states().first().map_or(0, |first| first.at);
        let told = self.run.registry.min_isr(self.key.topic_name(), state, (since.max(made), to));
        told.map(|(least, _)| least)
    }

    /// The least that any leader may have gone by when something was committed during a time.
    pub fn least_min_isr_during(&self, time: (TimeNs, TimeNs)) -> Option<usize> {
        let states = Registry::during(self.states(), time).iter();
        states.filter_map(|state| self.least_min_isr(state, time)).min()
    }

    fn heard_last(&self, state: &Registration, time: (TimeNs, TimeNs)) -> TimeNs {
        let known = self.run.evidence.manifest.as_ref().zip(state.leader);
        known.map_or(time.0, |(manifest, leader)| {
            let outcome = self.run.evidence.outcome.as_ref();
            faults::parted_since(outcome, leader, &controllers_of(manifest), time)
        })
    }
}
