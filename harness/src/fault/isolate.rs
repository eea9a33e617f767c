//! Cuts nodes off from brokers, controllers or clients; by default from all other nodes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Active, Entry, Scene, Strike, Struck, needs_proxies, read};
use crate::{
    cluster::NodeId,
    nemesis::{Aim, Aimer, Controls, Ending, LinkFault, NotInstalled, Rng, Stretch, Ways},
    proxy::{Action, Endpoint},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Isolate>("isolate", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Isolate {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// From whom.
    #[serde(default = "all_nodes")]
    from: Vec<Whom>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Whom {
    Brokers,
    Controllers,
    Clients,
}

fn all_nodes() -> Vec<Whom> {
    vec![Whom::Brokers, Whom::Controllers]
}

impl Isolate {
    fn others(&self, controls: &Controls, isolated: &[NodeId]) -> Vec<Endpoint> {
        let nodes = controls.cluster.plan().nodes.values();
        let meant = nodes.filter(|node| {
            let as_broker = node.roles.broker && self.from.contains(&Whom::Brokers);
            let as_controller = node.roles.controller && self.from.contains(&Whom::Controllers);
            !isolated.contains(&node.id) && (as_broker || as_controller)
        });
        let clients = self.from.contains(&Whom::Clients).then_some(Endpoint::Clients);
        meant.map(|node| Endpoint::Node(node.id)).chain(clients).collect()
    }
}

impl Strike for Isolate {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_proxies(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        let stretch = Stretch {
            from: nodes.iter().copied().map(Endpoint::Node).collect(),
            to: self.others(controls, &nodes),
            ways: Ways::Both,
            action: Action::Cut,
            discard: false,
        };
        let links = LinkFault::install(controls, &stretch)?;
        let view = controls.view();
        let missed = nodes.iter().copied().filter(|node| !view.has_dropped(*node)).collect();
        Ok(Box::new(Isolated { controls: controls.clone(), links, nodes, missed }))
    }
}

struct Isolated {
    controls: Controls,
    links: LinkFault,
    nodes: Vec<NodeId>,
    /// Those that were in an ISR, and not fenced, when it began.
    missed: Vec<NodeId>,
}

impl Isolated {
    /// Whom the others dropped since it began.
    fn dropped(&self) -> Vec<NodeId> {
        let view = self.controls.view();
        self.missed.iter().copied().filter(|node| view.has_dropped(*node)).collect()
    }
}

impl Active for Isolated {
    fn describe(&self) -> Value {
        let mut what = self.links.describe();
        what["nodes"] = json!(self.nodes);
        what
    }

    fn acted(&self) -> bool {
        self.links.acted()
    }

    /// That the others noticed (the controller fenced it, or its leaders dropped it) proves as much
    /// as bytes withheld.
    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let (dropped, withheld) = (self.dropped(), self.links.proof());
            let noticed = dropped.len() == self.nodes.len();
            let ending = Box::new(self.links).heal().await?;
            if !noticed && !matches!(ending, Ending::Installed { .. }) {
                return Ok(ending);
            }
            let mut proof = withheld;
            proof["dropped"] = json!(dropped);
            Ok(Ending::Installed { proof })
        })
    }
}
