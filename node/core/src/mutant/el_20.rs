//! Two replicas of a partition are put on one broker.

use rand::Rng;

use super::Entry;
use crate::rule::placement::{Demand, Site, place};
use crate::types::BrokerId;

/// The switch: the last of several replicas is where the first one is, whoever placed them.
pub const ENTRY: Entry = Entry {
    id: "EL-20",
    source: "how articles describe Kafka",
    schedule: "disk-loss",
    rule: "86",
    apply: |rules| {
        rules.place = placed_twice;
        rules.as_asked = twice_on_one_broker;
    },
};

fn placed_twice(sites: &[Site], demand: Demand, rng: &mut dyn Rng) -> Vec<Vec<BrokerId>> {
    place(sites, demand, rng).into_iter().map(twice_on_one_broker).collect()
}

fn twice_on_one_broker(mut replicas: Vec<BrokerId>) -> Vec<BrokerId> {
    if let [first, .., last] = replicas.as_mut_slice() {
        *last = *first;
    }
    replicas
}
