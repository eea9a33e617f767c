//! Loses the answers of nodes on their way back, while requests go through and take effect.

use serde::Deserialize;

use super::{Active, Entry, Fault, Scene, needs_proxies, read};
use crate::{
    nemesis::{Aim, Aimer, Controls, LinkFault, NotInstalled, Rng, Side, Ways},
    proxy::Action,
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<ReplyLoss>("reply-loss", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyLoss {
    /// Whose answers are lost.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// Who waits for them.
    #[serde(default = "Side::clients")]
    to: Side,
}

impl Fault for ReplyLoss {
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
            let from = aimer.ends(&Side::Nodes(self.aim.clone()))?;
            let to = aimer.ends(&self.to)?;
            let loss = LinkFault::install(controls, &from, &to, Ways::OneWay, Action::LoseAnswers)?;
            Ok(Box::new(loss) as Box<dyn Active>)
        })
    }
}
