//! Waiting until a started node serves.

use std::time::Duration;

use tokio::time;

use super::{ClusterError, NodePlan};
use crate::{
    direct::serves,
    process::{Exit, Spawned},
    target::Ready,
};

/// How long a started node may take until it serves.
const WITHIN: Duration = Duration::from_secs(60);
/// How often a listener is asked when the node prints no ready line: that it listens is no event.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// How long one such question waits for its answer.
const ASK_WITHIN: Duration = Duration::from_secs(1);

/// Waits until the node is ready, has ended, or the time is over.
pub(super) async fn wait(
    node: &NodePlan,
    ready: Ready,
    mut spawned: Spawned,
) -> Result<(), ClusterError> {
    let mut exit = spawned.exit.clone();
    let served = async {
        match ready {
            Ready::Line(_) => spawned.ready.wait_for(Option::is_some).await.is_ok(),
            Ready::Protocol => serves_everywhere(node).await,
        }
    };
    let died = |exit: Exit| ClusterError::Died { node: node.id, exit, folder: node.folder.clone() };
    let late = ClusterError::NotReady {
        node: node.id,
        within_ms: WITHIN.as_millis() as u64,
        folder: node.folder.clone(),
    };
    tokio::select! {
        served = served => if served { Ok(()) } else { Err(died(exit.wait().await)) },
        exit = exit.wait() => Err(died(exit)),
        () = time::sleep(WITHIN) => Err(late),
    }
}

async fn serves_everywhere(node: &NodePlan) -> bool {
    for place in node.listeners.values() {
        while !serves(place.real, ASK_WITHIN).await {
            time::sleep(ASK_EVERY).await;
        }
    }
    true
}
