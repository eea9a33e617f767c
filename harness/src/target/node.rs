//! Highwater's own broker, `highwater-node`, one process per node.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BoxFuture, Capabilities, Command, Entry, Needs, Ready, Target, TargetError, TargetOptions,
};
use crate::cluster::{ClusterPlan, ControllerPlacement, NodePlan, server_properties};

/// The plug-in.
pub const ENTRY: Entry = Entry { capabilities: Capabilities::ALL, open, lacks };

/// Names the binary when it does not lie beside the harness.
pub const BINARY_VARIABLE: &str = "HIGHWATER_NODE_BIN";

const BINARY: &str = "highwater-node";
const CONFIGURATION: &str = "server.properties";

fn open(options: &TargetOptions) -> Result<Box<dyn Target>, TargetError> {
    let binary = find_binary()?;
    Ok(Box::new(NodeTarget::new(binary, options.mutants.clone())))
}

fn lacks(needs: &Needs<'_>) -> Option<String> {
    if let Some(version) = needs.version {
        let why = "the node is the binary that is there; write node";
        return Some(format!("target node:{version}: {why}"));
    }
    // What it has none of is at level 0.
    let mut raised = needs.features.iter().filter(|(_, level)| *level != "0");
    if let Some((feature, level)) = raised.next() {
        return Some(format!("feature {feature}={level}: target node has no feature levels"));
    }
    let alone = needs.controllers == ControllerPlacement::Separate(1);
    (!alone).then(|| {
        "controllers: target node has no elections between controllers yet; it needs one, in a \
         process of its own"
            .to_owned()
    })
}

/// Finds `highwater-node`: the variable, else beside the running executable.
///
/// # Errors
/// One sentence that says where it was looked for.
pub fn find_binary() -> Result<PathBuf, TargetError> {
    if let Some(named) = env::var_os(BINARY_VARIABLE) {
        let path = PathBuf::from(named);
        return if path.is_file() {
            Ok(path)
        } else {
            let named =
                format!("{BINARY_VARIABLE} is {}, and there is no such file", path.display());
            Err(missing(named))
        };
    }
    let own = env::current_exe().map_err(|error| missing(error.to_string()))?;
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join(BINARY));
    beside.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let folder = own.parent().unwrap_or(Path::new("."));
        let build = format!("build it (`cargo build -p {BINARY}`) into {}", folder.display());
        missing(format!("{build}, or set {BINARY_VARIABLE}"))
    })
}

fn missing(advice: String) -> TargetError {
    TargetError::Missing { what: format!("node binary `{BINARY}`"), advice }
}

/// A line of the node's log, as far as it may warn.
#[derive(Deserialize)]
struct Event {
    event: String,
    #[serde(default)]
    text: String,
}

/// The sentence of a line that warns.
fn warning(line: &str) -> Option<String> {
    let event: Event = serde_json::from_str(line).ok()?;
    (event.event == "warning").then_some(event.text)
}

/// How the node begins to name properties that it has no use for.
const WITHOUT_EFFECT: &str = "these properties have no effect here: ";

/// The properties that the node's log says have no effect.
pub(super) fn without_effect(log: &str) -> Vec<String> {
    let warnings = log.lines().filter_map(warning);
    let named = warnings.filter_map(|text| Some(text.strip_prefix(WITHOUT_EFFECT)?.to_owned()));
    named.flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The status by which the node refuses what it was given.
const REFUSED: i32 = 64;

#[derive(Debug)]
pub(super) struct NodeTarget {
    binary: PathBuf,
    mutants: Vec<String>,
}

impl NodeTarget {
    /// Nodes of this binary with these mutants switched on.
    pub(super) fn new(binary: PathBuf, mutants: Vec<String>) -> Self {
        Self { binary, mutants }
    }

    fn arguments(&self, node: &NodePlan) -> Vec<String> {
        let mut arguments = vec![node.folder.join(CONFIGURATION).display().to_string()];
        for mutant in &self.mutants {
            arguments.extend(["--mutant".to_owned(), mutant.clone()]);
        }
        arguments
    }

    /// Formats the node's log directory, which reads all that a start reads; gives the properties
    /// that have no effect.
    async fn format(&self, node: &NodePlan) -> Result<Vec<String>, TargetError> {
        let mut command = tokio::process::Command::new(&self.binary);
        command.arg("format").args(self.arguments(node)).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.map_err(|source| {
            TargetError::Failed(format!("cannot start {}: {source}", self.binary.display()))
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Ok(without_effect(&said));
        }
        let said = said.lines().last().unwrap_or("it said nothing");
        // The file was made for this question only.
        let said = said.replace(&format!("{}: ", node.folder.join(CONFIGURATION).display()), "");
        if output.status.code() == Some(REFUSED) {
            return Err(TargetError::Refused(said));
        }
        Err(TargetError::Failed(format!("`{BINARY} format` ended with {}: {said}", output.status)))
    }

    fn write_configuration(&self, plan: &ClusterPlan, node: &NodePlan) -> Result<(), TargetError> {
        let text = server_properties(plan, node);
        let path = node.folder.join(CONFIGURATION);
        fs::create_dir_all(&node.log_dir)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| TargetError::File { path, source })
    }
}

impl Target for NodeTarget {
    fn describe(&self) -> Value {
        json!({"name": "node", "binary": self.binary, "mutants": self.mutants})
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn prepare<'a>(
        &'a self,
        plan: &'a ClusterPlan,
        node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async move { self.write_configuration(plan, node) })
    }

    fn check<'a>(
        &'a self,
        _plan: &'a ClusterPlan,
        node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<Vec<String>, TargetError>> {
        Box::pin(self.format(node))
    }

    fn warnings(&self, log: &str) -> Vec<String> {
        log.lines().filter_map(warning).collect()
    }

    fn command(&self, _plan: &ClusterPlan, node: &NodePlan) -> Command {
        let arguments = self.arguments(node);
        Command { program: self.binary.clone(), arguments, environment: Vec::new() }
    }

    fn ready(&self) -> Ready {
        Ready::Line("ready ")
    }
}
