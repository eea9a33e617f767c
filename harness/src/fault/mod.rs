//! What can be done to a cluster: one file per fault, each with proof that it acted.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    cluster::{ClusterPlan, NodeId},
    disk::{LIBRARY, Lever},
    nemesis::{
        Aim, Aimer, Controls, Disturbed, Ending, LinkFault, NotInstalled, Rng, Role, Side, Stretch,
    },
    target::{BoxFuture, Capabilities},
};

include!(concat!(env!("OUT_DIR"), "/fault_table.rs"));

/// A plug-in: how a fault is made from a schedule's parameters.
pub struct Entry {
    /// Reads the parameters, an object; names the field that is wrong.
    pub parse: fn(&Value) -> Result<Box<dyn Fault>, ParameterError>,
}

/// Why a schedule's step is no fault.
#[derive(Debug, Error)]
pub enum ParameterError {
    /// No fault of that name.
    #[error("unknown fault `{name}`; known: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter is missing, unknown or of the wrong kind.
    #[error("fault `{fault}`: {problem}")]
    Parameter {
        /// The fault.
        fault: &'static str,
        /// What is wrong, with the field's name.
        problem: String,
    },
}

/// What is known of the cluster before the run.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The cluster's plan.
    pub plan: &'a ClusterPlan,
    /// What its target can do.
    pub capabilities: Capabilities,
    /// Whether the shim is preloaded into its nodes.
    pub disks: bool,
}

/// A fault with its parameters.
pub trait Fault: Send + Sync + std::fmt::Debug {
    /// Whether its parameters make sense together, on any cluster.
    ///
    /// # Errors
    /// One sentence that says why not.
    fn makes_sense(&self) -> Result<(), String>;

    /// Whether it can act on this cluster at all; the reason when not.
    ///
    /// # Errors
    /// One sentence that says why it will be skipped.
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String>;

    /// Whether it needs the shim in the nodes.
    fn needs_disks(&self) -> bool;

    /// Brings it into force.
    fn install<'a>(&'a self, controls: &'a Controls, rng: Rng) -> BoxFuture<'a, Struck>;
}

/// A fault in force. Dropping it heals as well as a drop can: rules go and paused processes go on;
/// a killed process is started again but not waited for.
pub trait Active: Send {
    /// Whom it hit and how, for the nemesis event.
    fn describe(&self) -> Value;

    /// Whether it has provably acted by now. A fault that acts at once has when it is installed;
    /// one on links has once something ran into it.
    fn acted(&self) -> bool {
        true
    }

    /// Heals it, waits until the healed nodes serve, and says how the fault ended.
    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>>;
}

/// What striking gives: the fault in force.
type Struck = Result<Box<dyn Active>, NotInstalled>;

/// How a fault's file says what it does; every one of these is a [`Fault`].
trait Strike: Send + Sync + std::fmt::Debug {
    /// As [`Fault::makes_sense`].
    fn makes_sense(&self) -> Result<(), String> {
        Ok(())
    }

    /// As [`Fault::applies`].
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String>;

    /// As [`Fault::needs_disks`].
    fn needs_disks(&self) -> bool {
        false
    }

    /// As [`Fault::install`].
    fn strike(&self, controls: &Controls, rng: Rng) -> impl Future<Output = Struck> + Send;
}

impl<F: Strike> Fault for F {
    fn makes_sense(&self) -> Result<(), String> {
        Strike::makes_sense(self)
    }

    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        Strike::applies(self, scene)
    }

    fn needs_disks(&self) -> bool {
        Strike::needs_disks(self)
    }

    fn install<'a>(&'a self, controls: &'a Controls, rng: Rng) -> BoxFuture<'a, Struck> {
        Box::pin(self.strike(controls, rng))
    }
}

/// A fault that puts one action on the links between two sides, and nothing else.
trait OnLinks: Send + Sync + std::fmt::Debug {
    /// As [`Fault::makes_sense`].
    fn makes_sense(&self) -> Result<(), String>;

    /// Which links, and what happens on them.
    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled>;
}

impl<F: OnLinks> Strike for F {
    fn makes_sense(&self) -> Result<(), String> {
        OnLinks::makes_sense(self)
    }

    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_proxies(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let stretch = self.stretch(&mut Aimer::new(controls, &mut rng))?;
        Ok(Box::new(LinkFault::install(controls, &stretch)?))
    }
}

/// Reads a fault's parameters; an absent value is an empty object.
fn read<F: Fault + DeserializeOwned + 'static>(
    fault: &'static str,
    parameters: &Value,
) -> Result<Box<dyn Fault>, ParameterError> {
    let empty = json!({});
    let parameters = if parameters.is_null() { &empty } else { parameters };
    match serde_path_to_error::deserialize::<_, F>(parameters) {
        Ok(read) => Ok(Box::new(read)),
        Err(error) => {
            let path = error.path().to_string();
            let place = if path == "." { String::new() } else { format!("field `{path}`: ") };
            let problem = format!("{place}{}", error.into_inner());
            Err(ParameterError::Parameter { fault, problem })
        }
    }
}

/// For faults on the links between two sides, which must not both mean the same end.
fn have_links(from: &Side, to: &Side) -> Result<(), String> {
    let clients = Side::clients();
    if *from == clients && *to == clients {
        return Err("clients have no links among themselves".to_owned());
    }
    let both_one = match (only_node(from), only_node(to)) {
        (Some(from), Some(to)) => from == to,
        _ => from == to && is_one_role(from),
    };
    let said = || serde_json::to_string(to).unwrap_or_default();
    if both_one { Err(format!("{} has no link to itself", said())) } else { Ok(()) }
}

/// The node that a side names, when it names but one.
fn only_node(side: &Side) -> Option<NodeId> {
    let Side::Nodes(Aim::Nodes { nodes }) = side else { return None };
    nodes.first().copied().filter(|first| nodes.iter().all(|node| node == first))
}

/// Whether a side is a role that one node has at a time, and no draw decides which.
fn is_one_role(side: &Side) -> bool {
    let (Side::Nodes(Aim::Role(role)) | Side::Nodes(Aim::Of { role, .. })) = side else {
        return false;
    };
    matches!(role, Role::Leader | Role::Controller)
}

/// For faults that act on processes.
fn needs_processes(scene: &Scene<'_>) -> Result<(), String> {
    let can = scene.capabilities.processes;
    if can { Ok(()) } else { Err("the target's processes are not ours to signal".to_owned()) }
}

/// For faults that cost a node data.
fn needs_logs(scene: &Scene<'_>) -> Result<(), String> {
    needs_processes(scene)?;
    let why = "the target's log directories are not Kafka's: nothing tells what a disk lost";
    if scene.capabilities.logs { Ok(()) } else { Err(why.to_owned()) }
}

/// For faults that act on disks.
fn needs_shim(scene: &Scene<'_>) -> Result<(), String> {
    needs_logs(scene)?;
    let without = || format!("the nodes run without {LIBRARY}");
    if scene.disks { Ok(()) } else { Err(without()) }
}

/// Pulls levers of nodes' disks, and tells `what` was done beside whom it hit.
async fn disturb(
    aim: &Aim,
    levers: &[(Lever, u64)],
    mut what: Value,
    (controls, rng): (&Controls, &mut Rng),
) -> Struck {
    let nodes = Aimer::new(controls, rng).nodes(aim)?;
    what["nodes"] = json!(nodes);
    Ok(Box::new(Disturbed::begin(controls, &nodes, levers, what)?))
}

/// For faults that act on links.
fn needs_proxies(scene: &Scene<'_>) -> Result<(), String> {
    let can = scene.capabilities.proxies;
    if can { Ok(()) } else { Err("the target's links do not go through proxies".to_owned()) }
}

/// Makes the fault that a schedule names.
///
/// # Errors
/// When there is none of that name or its parameters are wrong.
pub fn parse(name: &str, parameters: &Value) -> Result<Box<dyn Fault>, ParameterError> {
    let found = TABLE.iter().find(|(known, _, _)| *known == name);
    let Some((_, _, entry)) = found else {
        let known: Vec<&str> = TABLE.iter().map(|(known, _, _)| *known).collect();
        return Err(ParameterError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    (entry.parse)(parameters)
}
