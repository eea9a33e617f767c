//! Strongly connected components of links, and a short cycle in each.

use std::collections::{BTreeMap, VecDeque};

use petgraph::{algo::kosaraju_scc, graph::DiGraph};

use super::links::{Kinds, Link, Links, Node};

/// Operations of which each precedes every other.
#[derive(Debug)]
pub struct Component {
    /// The operations, in order.
    pub operations: Vec<Node>,
    /// The links among them, sorted.
    links: Vec<Link>,
    /// Nodes from this one on are instants.
    instants: Node,
}

/// A cycle.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its links; each begins where the one before ends.
    pub links: Vec<Link>,
    /// Whether no shorter one exists in the component.
    pub is_shortest: bool,
}

/// Links that a search for a short cycle looks at, at most.
const SEARCH_LIMIT: usize = 2_000_000;

/// The components of several operations that links of these kinds make, in order of their first
/// operations; only links between nodes of `within` count, where that is given.
pub fn components(links: &Links, kinds: Kinds, within: Option<&[bool]>) -> Vec<Component> {
    let inside = |node: Node| within.is_none_or(|within| within[node as usize]);
    let used = links.all.iter().filter(|link| kinds.has(link.why));
    let used = used.filter(|link| inside(link.from) && inside(link.to));
    let graph: DiGraph<(), ()> = DiGraph::from_edges(used.clone().map(|l| (l.from, l.to)));
    let mut component_of = vec![u32::MAX; graph.node_count()];
    let mut found: Vec<Component> = Vec::new();
    for members in kosaraju_scc(&graph) {
        let nodes = members.iter().map(|node| node.index() as Node);
        let mut operations: Vec<Node> = nodes.filter(|node| *node < links.operations).collect();
        if operations.len() < 2 {
            continue;
        }
        operations.sort_unstable();
        members.iter().for_each(|node| component_of[node.index()] = found.len() as u32);
        found.push(Component { operations, links: Vec::new(), instants: links.operations });
    }
    for link in used {
        let of = |node: Node| component_of[node as usize];
        if of(link.from) == of(link.to)
            && let Some(component) = found.get_mut(of(link.from) as usize)
        {
            component.links.push(*link);
        }
    }
    found.sort_by_key(|component| component.operations[0]);
    found
}

impl Component {
    /// Every node, instants too, some more than once.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        self.links.iter().map(|link| link.from)
    }

    /// The cycle of the fewest operations, whatever instants lie between them; of a component with
    /// many links, the shortest that a bounded search finds.
    pub fn cycle(&self) -> Cycle {
        self.cycle_by(SEARCH_LIMIT)
    }

    fn cycle_by(&self, limit: usize) -> Cycle {
        let mut best: Option<Vec<Link>> = None;
        let mut left = limit;
        for start in &self.operations {
            let shorter_than = best.as_ref().map_or(usize::MAX, |best| self.length(best));
            if let Some(found) = self.shortest_through(*start, shorter_than, &mut left) {
                best = Some(found);
            }
            if left == 0 || best.as_ref().is_some_and(|best| self.length(best) == 2) {
                break;
            }
        }
        let links = best.expect("a component of two or more operations has a cycle");
        let is_shortest = left > 0 || self.length(&links) == 2;
        Cycle { links, is_shortest }
    }

    /// How many operations a cycle has.
    fn length(&self, links: &[Link]) -> usize {
        links.iter().map(|link| self.cost(link)).sum()
    }

    /// Instants cost nothing.
    fn cost(&self, link: &Link) -> usize {
        usize::from(link.from < self.instants)
    }

    /// The shortest cycle through an operation, if it has fewer operations than that. The first
    /// search is never cut short: it finds one.
    fn shortest_through(
        &self,
        start: Node,
        shorter_than: usize,
        left: &mut usize,
    ) -> Option<Vec<Link>> {
        let is_first = shorter_than == usize::MAX;
        let mut came_by: BTreeMap<Node, (usize, Link)> = BTreeMap::new();
        let mut closed: Option<(usize, Link)> = None;
        let mut open = VecDeque::from([(start, 0)]);
        while let Some((node, steps)) = open.pop_front() {
            let at_most = closed.as_ref().map_or(shorter_than, |(length, _)| *length);
            if steps >= at_most || (*left == 0 && !is_first) {
                break;
            }
            if came_by.get(&node).is_some_and(|(known, _)| *known < steps) {
                continue;
            }
            for link in self.from(node) {
                *left = left.saturating_sub(1);
                let there = steps + self.cost(link);
                if link.to == start {
                    let best = closed.as_ref().map_or(shorter_than, |(length, _)| *length);
                    closed = if there < best { Some((there, *link)) } else { closed };
                } else if came_by.get(&link.to).is_none_or(|(known, _)| there < *known) {
                    came_by.insert(link.to, (there, *link));
                    // What costs nothing is looked at first, so that nodes come by their distance.
                    match self.cost(link) {
                        0 => open.push_front((link.to, there)),
                        _ => open.push_back((link.to, there)),
                    }
                }
            }
        }
        closed.map(|(_, last)| back(start, last, &came_by))
    }

    fn from(&self, node: Node) -> &[Link] {
        let first = self.links.partition_point(|link| link.from < node);
        let end = self.links.partition_point(|link| link.from <= node);
        &self.links[first..end]
    }
}

fn back(start: Node, last: Link, came_by: &BTreeMap<Node, (usize, Link)>) -> Vec<Link> {
    let mut links = vec![last];
    let mut at = last.from;
    while at != start {
        let (_, link) = came_by[&at];
        links.push(link);
        at = link.from;
    }
    links.reverse();
    links
}

#[cfg(test)]
mod tests {
    use super::{Component, Cycle, Kinds, Link, Links, Node, components};
    use crate::cycle::links::Why;

    /// One component of rings, each of which goes through these operations in turn.
    fn component(rings: &[&[Node]]) -> Component {
        let of_ring = |ring: &&[Node]| {
            let next = ring.iter().copied().cycle().skip(1);
            let links = ring.iter().copied().zip(next);
            links.map(|(from, to)| Link { from, to, why: Why::Process }).collect::<Vec<_>>()
        };
        let mut all: Vec<Link> = rings.iter().flat_map(of_ring).collect();
        all.sort_unstable();
        let mut found = components(&Links { all, operations: 100 }, Kinds::PROCESS, None);
        assert_eq!(found.len(), 1, "one component");
        found.remove(0)
    }

    fn length(cycle: &Cycle) -> (usize, bool) {
        (cycle.links.len(), cycle.is_shortest)
    }

    #[test]
    fn the_shortest_cycle_is_found_wherever_it_is() {
        assert_eq!(length(&component(&[&[0, 1, 2, 3, 4], &[2, 3, 9]]).cycle()), (3, true));
        assert_eq!(length(&component(&[&[0, 1, 2, 3, 4], &[1, 2, 3], &[3, 4]]).cycle()), (2, true));
    }

    #[test]
    fn a_search_that_was_cut_short_says_so_and_finds_a_cycle() {
        let two = component(&[&[0, 1, 2, 3, 4], &[2, 3, 9]]);
        assert_eq!(length(&two.cycle_by(2)), (5, false));
        assert_eq!(length(&two.cycle_by(1000)), (3, true));
        assert_eq!(length(&component(&[&[0, 1], &[1, 2]]).cycle_by(1)), (2, true));
    }

    #[test]
    fn what_was_reached_the_long_way_first_is_reached_again_by_an_instant() {
        let link = |(from, to, why)| Link { from, to, why };
        let (on, time) = (Why::Process, Why::Time);
        let all = [(0, 1, on), (0, 3, time), (1, 2, on), (2, 0, on), (3, 2, time)].map(link);
        let links = Links { all: all.to_vec(), operations: 3 };
        let found = components(&links, Kinds::PROCESS.and(Kinds::TIME), None);
        let nodes: Vec<_> = found[0].cycle_by(1).links.iter().map(|link| link.from).collect();
        assert_eq!(nodes, [0, 3, 2]);
    }

    #[test]
    fn the_shortest_cycle_has_the_fewest_operations_and_any_instants() {
        let link = |(from, to, why)| Link { from, to, why };
        let by_time = [(1, 3), (3, 4), (4, 5), (5, 6), (6, 0)];
        let by_process = [(1, 2), (2, 0)];
        let mut all = vec![link((0, 1, Why::Read(0, 7)))];
        all.extend(by_time.map(|(from, to)| link((from, to, Why::Time))));
        all.extend(by_process.map(|(from, to)| link((from, to, Why::Process))));
        all.sort_unstable();
        let links = Links { all, operations: 3 };
        let kinds = Kinds::READS.and(Kinds::PROCESS).and(Kinds::TIME);
        let found = components(&links, kinds, None);
        let [component] = &found[..] else { panic!("one component") };
        let Cycle { links, is_shortest } = component.cycle();
        let nodes: Vec<_> = links.iter().map(|link| link.from).collect();
        assert_eq!((nodes, is_shortest), (vec![0, 1, 3, 4, 5, 6], true));
    }
}
