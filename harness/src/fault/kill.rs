//! Kills nodes with SIGKILL; healing starts them again.

use serde::Deserialize;

use super::{Active, Entry, Fault, Scene, needs_processes, read};
use crate::{
    nemesis::{Aim, Aimer, Controls, NotInstalled, Rng, kill_nodes},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Kill>("kill", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kill {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
}

impl Fault for Kill {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    fn install<'a>(
        &'a self,
        controls: &'a Controls,
        mut rng: Rng,
    ) -> BoxFuture<'a, Result<Box<dyn Active>, NotInstalled>> {
        Box::pin(async move {
            let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
            Ok(Box::new(kill_nodes(controls, &nodes).await?) as Box<dyn Active>)
        })
    }
}
