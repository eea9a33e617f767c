//! Nodes that were ended and lost data: the fault in force until they are started again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Ended, Ending, NotInstalled};
use crate::{cluster::NodeId, disk::Loss, fault::Active, target::BoxFuture};

/// Nodes that are down, and what their disks have lost.
pub struct LostData {
    ended: Ended,
    lost: BTreeMap<NodeId, Loss>,
}

impl LostData {
    /// Nodes that have lost nothing yet.
    #[must_use]
    pub fn of(ended: Ended) -> Self {
        Self { ended, lost: BTreeMap::new() }
    }

    /// Notes what a node has lost.
    pub fn add(&mut self, node: NodeId, loss: Loss) {
        self.lost.insert(node, loss);
    }

    /// What was lost: per node and partition, and in all.
    fn say(&self, of: &mut Value) {
        let bytes = |bytes: &u64| json!({"bytes": bytes});
        let cut = self.lost.iter().map(|(node, loss)| {
            let each = loss.partitions.iter().map(|(name, lost)| (name.clone(), bytes(lost)));
            (node.to_string(), Value::Object(each.collect()))
        });
        of["cut"] = Value::Object(cut.collect());
        let all = self.lost.iter().map(|(node, loss)| {
            (node.to_string(), json!({"bytes": loss.bytes, "files": loss.files}))
        });
        of["lost"] = Value::Object(all.collect());
    }
}

impl Active for LostData {
    fn describe(&self) -> Value {
        let mut what = self.ended.down.describe();
        self.say(&mut what);
        what
    }

    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let mut said = json!({});
            self.say(&mut said);
            let mut ending = self.ended.revive().await?;
            if let Ending::Installed { proof } = &mut ending {
                for name in ["cut", "lost"] {
                    proof[name] = said[name].take();
                }
            }
            Ok(ending)
        })
    }
}
