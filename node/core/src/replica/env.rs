//! What a step may look at besides the replica itself: time, the rule table, the other brokers.

use std::collections::BTreeMap;

use crate::rule::Rules;
use crate::types::{BrokerEpoch, BrokerId, Time};

/// The surroundings of one step.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// Now.
    pub now: Time,
    /// The contract, or a mutated one.
    pub rules: &'a Rules,
    /// What the committed metadata says of the brokers.
    pub brokers: &'a Brokers,
}

/// The registered brokers of the metadata image.
pub type Brokers = BTreeMap<BrokerId, BrokerView>;

/// One registered broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerView {
    /// The registered incarnation.
    pub epoch: BrokerEpoch,
    /// True while the controller does not let it serve (rule 33).
    pub fenced: bool,
    /// True while it is in controlled shutdown (rule 33).
    pub shutting_down: bool,
}

impl Env<'_> {
    /// True when `broker` may join an ISR as far as the metadata can tell (rule 23).
    ///
    /// `fetched_as` is the broker epoch of its last fetch; -1 is a fetch that carried none.
    pub fn is_isr_eligible(&self, broker: BrokerId, fetched_as: Option<BrokerEpoch>) -> bool {
        let Some(view) = self.brokers.get(&broker) else { return false };
        let same_incarnation = fetched_as.is_some_and(|e| e == BrokerEpoch(-1) || e == view.epoch);
        !view.fenced && !view.shutting_down && same_incarnation
    }
}
