//! Ending nodes, by force or in order, as several faults do.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Controls, Down, Ended, NotInstalled};
use crate::{cluster::NodeId, process::Exit};

/// How long a controlled shutdown may take unless the schedule says otherwise, in milliseconds.
pub const PATIENCE_MS: u64 = 30_000;

/// How a node is brought down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// SIGKILL.
    #[default]
    Kill,
    /// SIGTERM.
    Stop,
}

impl How {
    /// Brings `nodes` down and notes it for the history.
    ///
    /// # Errors
    /// When a node is down already or cannot be signalled.
    pub async fn end(self, controls: &Controls, nodes: &[NodeId]) -> Result<Ended, NotInstalled> {
        let (name, ended) = match self {
            Self::Kill => ("kill", kill_nodes(controls, nodes).await?),
            Self::Stop => {
                ("stop", stop_nodes(controls, nodes, Duration::from_millis(PATIENCE_MS)).await?)
            }
        };
        controls.hooks.note(name, ended.down.describe());
        Ok(ended)
    }
}

/// Kills nodes at the same instant; the wait status of each is the proof.
///
/// # Errors
/// When a node is down already or cannot be signalled; those killed before it are started again.
pub async fn kill_nodes(controls: &Controls, nodes: &[NodeId]) -> Result<Ended, NotInstalled> {
    let mut down = Down::new(controls);
    let mut missed = None;
    for (node, exit) in controls.cluster.kill_together(nodes).await {
        match exit {
            Ok(exit) => down.add(node, Some(exit)),
            Err(error) => missed = Some(error),
        }
    }
    if let Some(error) = missed {
        return Err(error.into());
    }
    let doubt = (!down.all_ended(Exit::killed)).then(|| "a node ended before its kill".to_owned());
    Ok(Ended { down, doubt })
}

/// Stops nodes in order; the exit status of an orderly end is the proof. Who is late is killed.
///
/// # Errors
/// As [`kill_nodes`].
pub async fn stop_nodes(
    controls: &Controls,
    nodes: &[NodeId],
    patience: Duration,
) -> Result<Ended, NotInstalled> {
    let mut down = Down::new(controls);
    let mut late = Vec::new();
    for node in nodes {
        let exit = match controls.cluster.stop(*node, patience).await? {
            Some(exit) => exit,
            None => {
                late.push(node.to_string());
                controls.cluster.kill(*node).await?
            }
        };
        down.add(*node, Some(exit));
    }
    let doubt = if !late.is_empty() {
        Some(format!("node {} did not stop within {} ms", late.join(", "), patience.as_millis()))
    } else if !down.all_ended(Exit::orderly) {
        Some(format!("a node did not end in order: {}", down.describe()["exits"]))
    } else {
        None
    };
    Ok(Ended { down, doubt })
}
