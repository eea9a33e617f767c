//! Delays the bytes of links, or lets them through no faster than a bandwidth.

use serde::Deserialize;

use super::{Active, Entry, Fault, Scene, needs_proxies, read};
use crate::{
    nemesis::{Aimer, Controls, LinkFault, NotInstalled, Rng, Side, Ways},
    proxy::Action,
    target::BoxFuture,
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

impl Fault for SlowLink {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        if self.delay_ms == 0 && self.bytes_per_s.is_none() {
            return Err("it neither delays nor limits: give delay_ms or bytes_per_s".to_owned());
        }
        if self.bytes_per_s == Some(0) {
            return Err("bytes_per_s is 0: use the fault cut to stop a link".to_owned());
        }
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
            let action = Action::Slow { delay_ms: self.delay_ms, bytes_per_s: self.bytes_per_s };
            let slow = LinkFault::install(controls, &from, &to, self.ways, action)?;
            Ok(Box::new(slow) as Box<dyn Active>)
        })
    }
}
