//! Restarts each broker in turn, waiting in between until every ISR is full again.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, needs_processes, read};
use crate::{
    cluster::NodeId,
    nemesis::{Controls, Done, Ending, How, NotInstalled, Rng},
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<RollingRestart>("rolling-restart", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RollingRestart {
    /// By force or in order.
    #[serde(default = "in_order")]
    how: How,
    /// How long the ISRs may take to fill after each restart.
    #[serde(default = "full_within_ms")]
    full_within_ms: u64,
}

fn in_order() -> How {
    How::Stop
}

fn full_within_ms() -> u64 {
    60_000
}

impl RollingRestart {
    /// Restarts one broker; what went otherwise than it should, if anything did.
    async fn one(&self, controls: &Controls, node: NodeId) -> Result<Option<String>, NotInstalled> {
        let ended = self.how.end(controls, &[node]).await?;
        let doubt = ended.doubt.clone();
        ended.down.revive().await?;
        controls.hooks.note("start", json!({"nodes": [node]}));
        let within = Duration::from_millis(self.full_within_ms);
        // The sight from before the restart says nothing: wait for a newer one.
        let restarted = controls.cluster.journal().clock().now_ns();
        let full = controls.sight(within, |view| view.time_ns > restarted && view.isr_is_full());
        if full.await.is_none() {
            let within = self.full_within_ms;
            return Ok(Some(format!("not every ISR was full {within} ms after node {node} began")));
        }
        Ok(doubt)
    }
}

impl Strike for RollingRestart {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    async fn strike(&self, controls: &Controls, _rng: Rng) -> Struck {
        let brokers: Vec<NodeId> = controls.cluster.plan().brokers().map(|node| node.id).collect();
        let mut doubts = Vec::new();
        for node in &brokers {
            doubts.extend(self.one(controls, *node).await?);
        }
        let what = json!({"nodes": brokers});
        let ending = if doubts.is_empty() {
            Ending::Installed { proof: json!({"restarted": brokers}) }
        } else {
            Ending::Indeterminate { reason: doubts.join("; ") }
        };
        Ok(Box::new(Done { what, ending }))
    }
}
