//! Holds one kind of request, or its answers, on links; healing releases or drops what was held.

use highwater_wire::ApiKey;
use serde::{Deserialize, Deserializer, de::Error};

use super::{Entry, OnLinks, have_links, read};
use crate::{
    nemesis::{Aimer, NotInstalled, Side, Stretch, Ways},
    proxy::{Action, Part},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Hold>("hold", parameters) };

/// Above every API key of Kafka.
const KEYS: i16 = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hold {
    /// Who asks.
    from: Side,
    /// Who is asked.
    to: Side,
    /// The API's name, such as `Fetch`.
    #[serde(deserialize_with = "api_by_name")]
    api: ApiKey,
    /// Requests or answers.
    part: Part,
    /// What becomes of what was held.
    #[serde(default)]
    then: Then,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Then {
    #[default]
    Release,
    Drop,
}

fn api_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApiKey, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = (0..KEYS).filter_map(|key| ApiKey::try_from(key).ok());
    let found = known.into_iter().find(|api| format!("{api:?}") == name);
    found.ok_or_else(|| D::Error::custom(format!("`{name}` is no API of Kafka, such as Fetch")))
}

impl OnLinks for Hold {
    fn makes_sense(&self) -> Result<(), String> {
        have_links(&self.from, &self.to)
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let (askers, asked) = (aimer.ends(&self.from)?, aimer.ends(&self.to)?);
        let (from, to) = match self.part {
            Part::Request => (askers, asked),
            Part::Answer => (asked, askers),
        };
        let action = Action::Hold { api_key: self.api as i16, part: self.part };
        Ok(Stretch { from, to, ways: Ways::OneWay, action, discard: self.then == Then::Drop })
    }
}
