//! Rule 86 for any cluster: distinct brokers, racks and leaders spread.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::mutant;
use crate::rule::Rules;
use crate::rule::placement::{Demand, Site, place};
use crate::types::BrokerId;

fn sites(racks: &[u8], fenced: &[bool]) -> Vec<Site> {
    let site = |(at, (rack, fenced)): (usize, (&u8, &bool))| Site {
        broker: BrokerId(at as i32),
        rack: (*rack > 0).then(|| format!("r{rack}")),
        fenced: *fenced && at > 0,
    };
    racks.iter().zip(fenced).enumerate().map(site).collect()
}

#[test]
fn mutant_el_20_breaks_rule_86() {
    let mut rules = Rules::default();
    (mutant::find("EL-20").expect("a mutant").apply)(&mut rules);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let demand = Demand { partitions: 1, replicas: 3 };
    let placed = (rules.place)(&sites(&[0; 3], &[false; 3]), demand, &mut rng);
    let distinct: BTreeSet<_> = placed[0].iter().collect();
    assert_eq!((placed[0].len(), distinct.len()), (3, 2), "two of three copies on one broker");
    let asked = [1, 2, 3].map(BrokerId).to_vec();
    assert_eq!((rules.as_asked)(asked), [1, 2, 1].map(BrokerId), "also where an operator placed");
}

proptest! {
    #[test]
    fn rule_86_replicas_are_spread(
        racks in proptest::collection::vec(0u8..4, 1..9),
        fenced in proptest::collection::vec(any::<bool>(), 9),
        partitions in 1usize..20,
        wanted in 1usize..6,
        seed in any::<u64>(),
    ) {
        let sites = sites(&racks, &fenced);
        let replicas = wanted.min(sites.len());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let placed = place(&sites, Demand { partitions, replicas }, &mut rng);
        prop_assert_eq!(placed.len(), partitions);
        let all_live = sites.iter().all(|site| !site.fenced);
        let live = sites.iter().filter(|site| !site.fenced).count();
        let rack_of = |id: &BrokerId| sites[id.0 as usize].rack.clone();
        let existing: BTreeSet<_> = sites.iter().map(|site| site.rack.clone()).collect();
        let mut leads: BTreeMap<BrokerId, usize> = BTreeMap::new();
        for brokers in &placed {
            let distinct: BTreeSet<_> = brokers.iter().collect();
            prop_assert_eq!(distinct.len(), replicas);
            prop_assert!(!sites[brokers[0].0 as usize].fenced, "a fenced broker cannot lead");
            let used: BTreeSet<_> = brokers.iter().map(rack_of).collect();
            if all_live {
                prop_assert_eq!(used.len(), replicas.min(existing.len()));
            }
            *leads.entry(brokers[0]).or_default() += 1;
        }
        let most = leads.values().max().unwrap();
        prop_assert!(*most <= partitions.div_ceil(live), "leaders are spread: {leads:?}");
    }
}
