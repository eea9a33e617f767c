//! Delays the bytes of links, or lets them through no faster than a bandwidth.

use serde::Deserialize;

use super::{Entry, OnLinks, have_links, read};
use crate::{
    nemesis::{Aimer, NotInstalled, Side, Stretch, Ways},
    proxy::Action,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<SlowLink>("slow-link", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlowLink {
    /// Whose bytes come late.
    from: Side,
    /// To whom.
    to: Side,
    /// Whether the other direction is slow too.
    #[serde(default)]
    ways: Ways,
    /// How late.
    #[serde(default)]
    delay_ms: u64,
    /// The bandwidth of each connection; unlimited when absent.
    bytes_per_s: Option<u64>,
}

impl OnLinks for SlowLink {
    fn makes_sense(&self) -> Result<(), String> {
        if self.delay_ms == 0 && self.bytes_per_s.is_none() {
            return Err("it neither delays nor limits: give delay_ms or bytes_per_s".to_owned());
        }
        if self.bytes_per_s == Some(0) {
            return Err("bytes_per_s is 0: use the fault cut to stop a link".to_owned());
        }
        have_links(&self.from, &self.to)
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let (from, to) = (aimer.ends(&self.from)?, aimer.ends(&self.to)?);
        let action = Action::Slow { delay_ms: self.delay_ms, bytes_per_s: self.bytes_per_s };
        Ok(Stretch { from, to, ways: self.ways, action, discard: false })
    }
}
