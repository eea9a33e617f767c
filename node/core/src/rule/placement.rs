//! Rule 86: replicas on distinct brokers, spread over racks, leaders spread over brokers.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::types::BrokerId;

/// A broker that may hold replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Which broker.
    pub broker: BrokerId,
    /// Its rack; brokers without one share the nameless rack.
    pub rack: Option<String>,
    /// True when it cannot lead now; it is used only when the live ones do not suffice.
    pub fenced: bool,
}

/// What is to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// How many partitions.
    pub partitions: usize,
    /// How many replicas of each; at least 1 and at most the number of sites.
    pub replicas: usize,
}

/// The type of [`place`].
pub type Place = fn(&[Site], Demand, &mut dyn Rng) -> Vec<Vec<BrokerId>>;

/// The replicas of each partition in assignment order. At least one site must be live.
pub fn place(sites: &[Site], demand: Demand, rng: &mut dyn Rng) -> Vec<Vec<BrokerId>> {
    let ring = interleave_racks(sites, rng);
    let live: Vec<usize> = (0..ring.len()).filter(|&at| !ring[at].fenced).collect();
    assert!(!live.is_empty(), "a leader needs a live broker");
    assert!(demand.replicas <= ring.len(), "replicas are on distinct brokers");
    let start = rng.random_range(0..live.len());
    let shift = rng.random_range(0..ring.len());
    (0..demand.partitions)
        .map(|partition| {
            let leader = live[(start + partition) % live.len()];
            replicas_of(&ring, leader, shift + partition / live.len(), demand.replicas)
        })
        .collect()
}

/// The type of [`as_asked`].
pub type AsAsked = fn(Vec<BrokerId>) -> Vec<BrokerId>;

/// The replicas of a partition that an operator assigned, each on another broker: as they stand.
pub fn as_asked(replicas: Vec<BrokerId>) -> Vec<BrokerId> {
    replicas
}

/// All sites in a shuffled order in which racks take turns.
fn interleave_racks<'a>(sites: &'a [Site], rng: &mut dyn Rng) -> Vec<&'a Site> {
    let mut racks: BTreeMap<Option<&str>, Vec<&Site>> = BTreeMap::new();
    for site in sites {
        racks.entry(site.rack.as_deref()).or_default().push(site);
    }
    let mut racks: Vec<Vec<&Site>> = racks.into_values().collect();
    for rack in &mut racks {
        rack.shuffle(rng);
    }
    racks.shuffle(rng);
    let longest = racks.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|turn| racks.iter().filter_map(move |rack| rack.get(turn).copied()))
        .collect()
}

/// The leader, then from the ring the next site that is live and in the least used rack.
fn replicas_of(ring: &[&Site], leader: usize, shift: usize, count: usize) -> Vec<BrokerId> {
    let others = ring.len() - 1;
    let follower = |turn: usize| ring[(leader + 1 + (shift + turn) % others) % ring.len()];
    let mut left: Vec<&Site> = (0..others).map(follower).collect();
    let mut used: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut chosen = vec![ring[leader]];
    *used.entry(ring[leader].rack.as_deref()).or_default() += 1;
    while chosen.len() < count {
        let cost = |site: &Site| (site.fenced, used.get(&site.rack.as_deref()).copied());
        let best = (0..left.len())
            .min_by_key(|&at| (cost(left[at]), at))
            .expect("there are as many sites as replicas");
        let site = left.remove(best);
        *used.entry(site.rack.as_deref()).or_default() += 1;
        chosen.push(site);
    }
    chosen.into_iter().map(|site| site.broker).collect()
}
