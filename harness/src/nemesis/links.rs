//! A set of link rules as one fault: installed together, proved together, healed together.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Controls, Ending, NotInstalled};
use crate::{
    cluster::NodeId,
    fault::Active,
    proxy::{Action, Endpoint, Link, LinkRule, RuleGuard},
    target::BoxFuture,
};

/// Which directions of the links between two sides are hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ways {
    /// Both.
    #[default]
    Both,
    /// Only from the first side to the second.
    OneWay,
}

/// The links that a fault is on, and what happens there.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// One side.
    pub from: Vec<Endpoint>,
    /// The other side.
    pub to: Vec<Endpoint>,
    /// From which side bytes are hit.
    pub ways: Ways,
    /// What happens to them.
    pub action: Action,
    /// Whether what was withheld is dropped with its connections in the end, not delivered.
    pub discard: bool,
}

/// The links from one side to the other, and back where `ways` says so; nobody's to itself.
#[must_use]
pub fn across(from: &[Endpoint], to: &[Endpoint], ways: Ways) -> Vec<Link> {
    let pairs = from.iter().flat_map(|from| to.iter().map(|to| Link { from: *from, to: *to }));
    let there: Vec<Link> = pairs.filter(|link| link.from != link.to).collect();
    let back = there.iter().map(|link| link.reversed());
    let back: Vec<Link> = if ways == Ways::Both { back.collect() } else { Vec::new() };
    there.into_iter().chain(back).collect()
}

/// Rules in force. Dropping it heals the links.
pub struct LinkFault {
    controls: Controls,
    guards: Vec<RuleGuard>,
    nodes: Vec<NodeId>,
    discard: bool,
}

impl LinkFault {
    /// Puts the action on the links.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when there is no link between the two sides.
    pub fn install(controls: &Controls, stretch: &Stretch) -> Result<Self, NotInstalled> {
        let Stretch { from, to, ways, action, discard } = stretch;
        let fault = Self::on(controls, &across(from, to, *ways), *action)?;
        let nodes = nodes_of(from.iter().chain(to));
        Ok(Self { nodes, discard: *discard, ..fault })
    }

    /// Puts the action on each of these links.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when there is none.
    pub fn on(controls: &Controls, links: &[Link], action: Action) -> Result<Self, NotInstalled> {
        if links.is_empty() {
            return Err(NotInstalled::Skipped("there is no link between the two sides".to_owned()));
        }
        let mut guards = Vec::new();
        for link in links {
            guards.push(controls.net.install(LinkRule { link: *link, action })?);
        }
        let mut nodes = nodes_of(links.iter().flat_map(|link| [&link.from, &link.to]));
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Self { nodes, controls: controls.clone(), guards, discard: false })
    }

    /// Whether something was withheld. One direction is enough: an end that is not answered falls
    /// silent, and its own direction has nothing to withhold then; nothing passes in either.
    fn is_felt(&self) -> bool {
        self.guards.iter().any(|guard| guard.stats().acted())
    }

    /// How it stands now.
    #[must_use]
    pub fn ending(&self) -> Ending {
        if self.is_felt() {
            return Ending::Installed { proof: self.proof() };
        }
        let links: Vec<String> =
            self.guards.iter().map(|guard| guard.rule().link.to_string()).collect();
        let reason = format!("nothing was withheld on any of {}", links.join(", "));
        Ending::Indeterminate { reason }
    }

    /// What was withheld, link by link.
    #[must_use]
    pub fn proof(&self) -> Value {
        let each =
            self.guards.iter().map(|guard| (guard.rule().link.to_string(), json!(guard.stats())));
        Value::Object(each.collect())
    }
}

fn nodes_of<'a>(ends: impl Iterator<Item = &'a Endpoint>) -> Vec<NodeId> {
    let node = |end: &Endpoint| match end {
        Endpoint::Node(node) => Some(*node),
        Endpoint::Clients => None,
    };
    ends.filter_map(node).collect()
}

impl Active for LinkFault {
    fn describe(&self) -> Value {
        let rules: Vec<LinkRule> = self.guards.iter().map(RuleGuard::rule).collect();
        json!({"nodes": self.nodes, "rules": rules})
    }

    fn acted(&self) -> bool {
        self.is_felt()
    }

    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            self.controls.hooks.before_heal(&self.nodes).await;
            let ending = self.ending();
            if self.discard {
                self.guards.into_iter().for_each(RuleGuard::discard);
            }
            Ok(ending)
        })
    }
}
