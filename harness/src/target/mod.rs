//! What a cluster is made of: one file per kind of broker that the harness can start.

use std::{
    collections::BTreeMap,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::cluster::{ClusterPlan, ControllerPlacement, NodePlan};

include!(concat!(env!("OUT_DIR"), "/target_table.rs"));

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A plug-in: how one kind of target is opened.
pub struct Entry {
    /// What every target of this kind has.
    pub capabilities: Capabilities,
    /// Makes the target, or says in one sentence why this machine cannot run it.
    pub open: fn(&TargetOptions) -> Result<Box<dyn Target>, TargetError>,
    /// Why the target cannot give what a run needs, in one sentence; `None` when it can.
    pub lacks: fn(&Needs<'_>) -> Option<String>,
}

/// What a run needs of its target.
#[derive(Debug, Clone, Copy)]
pub struct Needs<'a> {
    /// Which version, where one was named.
    pub version: Option<&'a str>,
    /// Known bugs to switch on.
    pub mutants: &'a [String],
    /// Feature levels of the new cluster.
    pub features: &'a BTreeMap<String, String>,
    /// Where the controllers live.
    pub controllers: ControllerPlacement,
}

/// What a run says of its target.
#[derive(Debug, Clone, Default)]
pub struct TargetOptions {
    /// Which version, where the target has several.
    pub version: Option<String>,
    /// Mutants to switch on (our node only).
    pub mutants: Vec<String>,
    /// Feature levels that a new cluster is formatted with (Apache Kafka only).
    pub features: BTreeMap<String, String>,
}

/// One start and orderly end of a node that makes later starts shorter.
pub struct Training {
    /// What to start.
    pub target: Arc<dyn Target>,
    /// Keeps what was learnt, after the node's end.
    pub keep: Box<dyn FnOnce() -> Result<(), TargetError> + Send>,
}

/// What a kind of target has; faults and schedules ask before the run. What it lacks, a run does
/// without or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The most brokers of one cluster.
    pub brokers: u32,
    /// Its processes are ours: they can be killed, stopped, paused and started.
    pub processes: bool,
    /// Its links go through proxies. Without, a node has one listener and advertises that itself.
    pub proxies: bool,
    /// It has controllers, whose place is a choice and which keep a metadata log.
    pub controllers: bool,
    /// It takes properties by Kafka's names.
    pub properties: bool,
    /// Its log directories have Kafka's layout: replicas can be dumped, and what a disk lost told.
    pub logs: bool,
}

impl Capabilities {
    /// What a whole Kafka cluster has.
    pub const ALL: Self = Self {
        brokers: 20,
        processes: true,
        proxies: true,
        controllers: true,
        properties: true,
        logs: true,
    };
    /// What is known of a command that starts one broker on a port with a data directory.
    pub const ONE_BROKER: Self = Self {
        brokers: 1,
        processes: true,
        proxies: false,
        controllers: false,
        properties: false,
        logs: false,
    };
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to the harness's own environment.
    pub environment: Vec<(String, String)>,
}

/// How the harness learns that a started process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// It prints a line with this beginning on standard output.
    Line(&'static str),
    /// Its listeners answer ApiVersions.
    Protocol,
}

/// Why a target cannot be used.
#[derive(Debug, Error)]
pub enum TargetError {
    /// No target of that name.
    #[error("unknown target `{name}`; known: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A program that the target needs is not there; `advice` says what to do.
    #[error("{what} not found: {advice}")]
    Missing {
        /// What is missing.
        what: String,
        /// How to get it.
        advice: String,
    },
    /// A file could not be written or read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The target does not take what it was given: its sentence.
    #[error("{0}")]
    Refused(String),
    /// The target's own preparation failed.
    #[error("{0}")]
    Failed(String),
}

/// One kind of broker that the harness can start, break and read.
pub trait Target: Send + Sync + std::fmt::Debug {
    /// What the manifest says of it: name, version, binary.
    fn describe(&self) -> Value;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Writes a node's configuration and makes its log directory; called once per node, before the
    /// first start.
    fn prepare<'a>(
        &'a self,
        plan: &'a ClusterPlan,
        node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>>;

    /// Asks whether a prepared node would start with its configuration, without starting it, and
    /// which of its properties would have no effect. Who cannot be asked says nothing.
    fn check<'a>(
        &'a self,
        _plan: &'a ClusterPlan,
        _node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<Vec<String>, TargetError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// What to start once, in `folder`, before this target's nodes; `None` when nothing is gained.
    fn training(&self, _folder: &Path) -> Option<Training> {
        None
    }

    /// What a node warns of in its log, standard error's text: one sentence each.
    fn warnings(&self, _log: &str) -> Vec<String> {
        Vec::new()
    }

    /// What a node's log, standard output's text, says last of a fault that it met itself.
    fn complaint(&self, _log: &str) -> Option<String> {
        None
    }

    /// The program that is the node.
    fn command(&self, plan: &ClusterPlan, node: &NodePlan) -> Command;

    /// How a started node is known to serve.
    fn ready(&self) -> Ready;

    /// Folders that hold a node's partitions.
    fn log_dirs(&self, node: &NodePlan) -> Vec<PathBuf> {
        vec![node.log_dir.clone()]
    }
}

/// Opens the target that `--target` names, `NAME` or `NAME:VERSION`.
///
/// # Errors
/// When there is none of that name, or it cannot run here.
pub fn open(name: &str, options: &TargetOptions) -> Result<Box<dyn Target>, TargetError> {
    let (entry, version) = known(name)?;
    let options = TargetOptions { version: version.map(str::to_owned), ..options.clone() };
    (entry.open)(&options)
}

/// The target of this name, and the version that the name goes on with.
///
/// # Errors
/// When there is none: those that there are are named.
pub fn known(name: &str) -> Result<(&'static Entry, Option<&str>), TargetError> {
    let (kind, version) = split(name);
    let found = TABLE.iter().find(|(known, _, _)| *known == kind);
    found.map(|(_, _, entry)| (*entry, version)).ok_or_else(|| {
        let known: Vec<&str> = TABLE.iter().map(|(known, _, _)| *known).collect();
        TargetError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((kind, version)) => (kind, Some(version)),
        None => (name, None),
    }
}

pub use node::find_binary as find_node_binary;

#[cfg(test)]
mod tests;
