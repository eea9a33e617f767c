//! Cuts the links between two sides, both ways or one way; a side may be the clients.

use serde::Deserialize;

use super::{Entry, OnLinks, have_links, read};
use crate::{
    nemesis::{Aimer, NotInstalled, Side, Stretch, Ways},
    proxy::Action,
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

impl OnLinks for Cut {
    fn makes_sense(&self) -> Result<(), String> {
        have_links(&self.from, &self.to)
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let (from, to) = (aimer.ends(&self.from)?, aimer.ends(&self.to)?);
        Ok(Stretch { from, to, ways: self.ways, action: Action::Cut, discard: false })
    }
}
