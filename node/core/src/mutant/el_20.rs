//! Placement puts two replicas of a partition on one broker.

use rand::Rng;

use super::Entry;
use crate::rule::placement::{Demand, Site, place};
use crate::types::BrokerId;

/// The switch: the last of several replicas is where the first one is.
pub const ENTRY: Entry = Entry {
    id: "EL-20",
    source: "how articles describe Kafka",
    schedule: "disk-loss",
    rule: "86",
    apply: |rules| rules.place = twice_on_one_broker,
};

fn twice_on_one_broker(sites: &[Site], demand: Demand, rng: &mut dyn Rng) -> Vec<Vec<BrokerId>> {
    let mut placed = place(sites, demand, rng);
    for replicas in &mut placed {
        if let [first, .., last] = replicas.as_mut_slice() {
            *last = *first;
        }
    }
    placed
}
