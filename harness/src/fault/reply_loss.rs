//! Loses the answers of nodes on their way back, while requests go through and take effect.

use serde::Deserialize;

use super::{Entry, OnLinks, have_links, read};
use crate::{
    nemesis::{Aim, Aimer, NotInstalled, Side, Stretch, Ways},
    proxy::Action,
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

impl OnLinks for ReplyLoss {
    fn makes_sense(&self) -> Result<(), String> {
        have_links(&Side::Nodes(self.aim.clone()), &self.to)
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let from = aimer.ends(&Side::Nodes(self.aim.clone()))?;
        let to = aimer.ends(&self.to)?;
        let (ways, action) = (Ways::OneWay, Action::LoseAnswers);
        Ok(Stretch { from, to, ways, action, discard: false })
    }
}
