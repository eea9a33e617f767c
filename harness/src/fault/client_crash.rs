//! Drops clients at once, in the middle of their operations; new ones take their places.

use highwater_workloads::fleet::{Kind, Victims};
use rand::Rng as _;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::nemesis::{Controls, Done, Ending, NotInstalled, Rng};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<ClientCrash>("client-crash", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientCrash {
    /// Of which kind.
    #[serde(default)]
    kind: Kind,
    /// How many, at most all that there are.
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

impl Strike for ClientCrash {
    fn makes_sense(&self) -> Result<(), String> {
        if self.count == 0 { Err("it hits nobody: give count".to_owned()) } else { Ok(()) }
    }

    fn applies(&self, _: &Scene<'_>) -> Result<(), String> {
        Ok(())
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let victims = Victims { kind: self.kind, count: self.count, seed: rng.next_u64() };
        let gone = match &controls.clients {
            Some(clients) => clients.crash(victims).await,
            None => Vec::new(),
        };
        if gone.is_empty() {
            return Err(NotInstalled::Skipped("there was no such client".to_owned()));
        }
        let ending = Ending::Installed { proof: json!({"clients": gone}) };
        Ok(Box::new(Done { what: json!({"clients": gone}), ending }))
    }
}
