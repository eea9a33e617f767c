//! Cuts nodes off from brokers, controllers or clients; by default from all other nodes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Active, Entry, Fault, Scene, needs_proxies, read};
use crate::{
    cluster::NodeId,
    nemesis::{Aim, Aimer, Controls, Ending, LinkFault, NotInstalled, Rng, Ways},
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

impl Fault for Isolate {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_proxies(scene)
    }

    fn install<'a>(
        &'a self,
        controls: &'a Controls,
        mut rng: Rng,
    ) -> BoxFuture<'a, Result<Box<dyn Active>, NotInstalled>> {
        Box::pin(async move {
            let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
            let others = self.others(controls, &nodes);
            let own: Vec<Endpoint> = nodes.iter().copied().map(Endpoint::Node).collect();
            let links = LinkFault::install(controls, &own, &others, Ways::Both, Action::Cut)?;
            Ok(Box::new(Isolated { controls: controls.clone(), links, nodes }) as Box<dyn Active>)
        })
    }
}

struct Isolated {
    controls: Controls,
    links: LinkFault,
    nodes: Vec<NodeId>,
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

    /// That the others noticed (the controller fenced it, or its leaders dropped it) stands in the
    /// proof beside the withheld bytes.
    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let view = self.controls.view();
            let noticed: Vec<NodeId> =
                self.nodes.iter().copied().filter(|node| view.has_dropped(*node)).collect();
            let ending = Box::new(self.links).heal().await?;
            Ok(match ending {
                Ending::Installed { mut proof } => {
                    proof["dropped"] = json!(noticed);
                    Ending::Installed { proof }
                }
                other => other,
            })
        })
    }
}
