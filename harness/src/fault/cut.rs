//! Cuts the links between two sides, both ways or one way; a side may be the clients.

use serde::Deserialize;

use super::{Active, Entry, Fault, Scene, needs_proxies, read};
use crate::{
    nemesis::{Aimer, Controls, LinkFault, NotInstalled, Rng, Side, Ways},
    proxy::Action,
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Cut>("cut", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cut {
    /// Whose bytes are withheld.
    from: Side,
    /// From whom.
    to: Side,
    /// Whether the other direction is cut too.
    #[serde(default)]
    ways: Ways,
}

impl Fault for Cut {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_proxies(scene)
    }

    fn install<'a>(
        &'a self,
        controls: &'a Controls,
        mut rng: Rng,
    ) -> BoxFuture<'a, Result<Box<dyn Active>, NotInstalled>> {
        Box::pin(async move {
            let mut aimer = Aimer::new(controls, &mut rng);
            let (from, to) = (aimer.ends(&self.from)?, aimer.ends(&self.to)?);
            let cut = LinkFault::install(controls, &from, &to, self.ways, Action::Cut)?;
            Ok(Box::new(cut) as Box<dyn Active>)
        })
    }
}
