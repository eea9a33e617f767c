//! Waiting until a started node serves.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};

use super::{ClusterError, NodePlan};
use crate::{
    process::{Exit, Spawned},
    target::Ready,
};

/// How long a started node may take until it serves.
const WITHIN: Duration = Duration::from_secs(60);
/// How often a listener is asked when the node prints no ready line: a listening socket is no event.
const ASK_EVERY: Duration = Duration::from_millis(20);

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
        while !answers(place.real).await {
            time::sleep(ASK_EVERY).await;
        }
    }
    true
}

/// Whether a listener answers ApiVersions version 0, which every broker and controller must.
async fn answers(address: SocketAddr) -> bool {
    const ASK: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff];
    let Ok(mut stream) = TcpStream::connect(address).await else { return false };
    let mut answer = [0; 8];
    stream.write_all(&ASK).await.is_ok() && stream.read_exact(&mut answer).await.is_ok()
}
