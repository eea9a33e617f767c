//! Lets each node, controllers too, reach only its neighbours in a drawn ring; clients reach all.

use serde::Deserialize;

use super::{Entry, Scene, Strike, Struck, needs_proxies, read};
use crate::{
    cluster::NodeId,
    nemesis::{Aimer, Controls, LinkFault, Rng},
    proxy::{Action, Link},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Ring>("ring", parameters) };

/// In a smaller ring all are neighbours.
const SMALLEST: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ring {}

impl Strike for Ring {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        let count = scene.plan.nodes.len();
        if count < SMALLEST {
            return Err(format!("in a ring of {count} nodes all are neighbours"));
        }
        needs_proxies(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let ring = Aimer::new(controls, &mut rng).in_any_order();
        Ok(Box::new(LinkFault::on(controls, &strangers(&ring), Action::Cut)?))
    }
}

/// The links between nodes that are no neighbours, in both directions.
fn strangers(ring: &[NodeId]) -> Vec<Link> {
    let apart = |from: usize, to: usize| {
        let distance = from.abs_diff(to);
        distance.min(ring.len() - distance)
    };
    let from = ring.iter().enumerate();
    let links = from.flat_map(|(at, from)| {
        let far = ring.iter().enumerate().filter(move |(to, _)| apart(at, *to) > 1);
        far.map(|(_, to)| Link::nodes(*from, *to))
    });
    links.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_two_neighbours() {
        for count in 4..9 {
            let ring: Vec<NodeId> = (1..=count).rev().map(NodeId).collect();
            let links = strangers(&ring);
            for node in &ring {
                let to = |link: &&Link| **link == Link::nodes(*node, other(link));
                assert_eq!(links.iter().filter(to).count(), ring.len() - 3);
            }
            assert!(links.iter().all(|link| links.contains(&link.reversed())));
            assert!(!links.contains(&Link::nodes(ring[0], ring[ring.len() - 1])));
        }
    }

    fn other(link: &Link) -> NodeId {
        match link.to {
            crate::proxy::Endpoint::Node(node) => node,
            crate::proxy::Endpoint::Clients => unreachable!("a ring has only nodes"),
        }
    }
}
