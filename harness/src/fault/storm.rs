//! One fault after the other, drawn from a list, each for a while, until healed.

use std::time::Duration;

use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Active, Entry, Fault, ParameterError, Scene, Strike, Struck, parse};
use crate::{
    nemesis::{Controls, Ending, NotInstalled, Rng},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: read };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// The faults to draw from: a name and its parameters.
    #[serde(default = "kill_and_pause")]
    of: Vec<Drawn>,
    /// How long each lasts: at least, at most.
    #[serde(default = "hold_ms")]
    hold_ms: [u64; 2],
    /// How long nothing is wrong after each: at least, at most.
    #[serde(default = "rest_ms")]
    rest_ms: [u64; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    fault: String,
    #[serde(default)]
    with: Value,
}

fn kill_and_pause() -> Vec<Drawn> {
    let names = ["kill", "pause"].map(str::to_owned);
    names.map(|fault| Drawn { fault, with: Value::Null }).into()
}

fn hold_ms() -> [u64; 2] {
    [300, 3_000]
}

fn rest_ms() -> [u64; 2] {
    [0, 1_000]
}

fn read(parameters: &Value) -> Result<Box<dyn Fault>, ParameterError> {
    let wrong = |problem: String| ParameterError::Parameter { fault: "storm", problem };
    let empty = json!({});
    let given = if parameters.is_null() { &empty } else { parameters };
    let read: Parameters =
        serde_path_to_error::deserialize(given).map_err(|error| wrong(error.to_string()))?;
    if read.of.is_empty() {
        return Err(wrong("field `of`: an empty list has nothing to draw from".to_owned()));
    }
    for (field, [least, most]) in [("hold_ms", read.hold_ms), ("rest_ms", read.rest_ms)] {
        if least > most {
            return Err(wrong(format!("field `{field}`: {least} is more than {most}")));
        }
    }
    let each = read.of.into_iter();
    let faults = each.map(|drawn| Ok((parse(&drawn.fault, &drawn.with)?.into(), drawn.fault)));
    let faults = faults.collect::<Result<Vec<(std::sync::Arc<dyn Fault>, String)>, _>>()?;
    Ok(Box::new(Storm { faults, hold_ms: read.hold_ms, rest_ms: read.rest_ms }))
}

#[derive(Debug, Clone)]
struct Storm {
    faults: Vec<(std::sync::Arc<dyn Fault>, String)>,
    hold_ms: [u64; 2],
    rest_ms: [u64; 2],
}

impl Strike for Storm {
    fn makes_sense(&self) -> Result<(), String> {
        self.faults.iter().try_for_each(|(fault, _)| fault.makes_sense())
    }

    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        self.faults.iter().try_for_each(|(fault, _)| fault.applies(scene))
    }

    fn needs_disks(&self) -> bool {
        self.faults.iter().any(|(fault, _)| fault.needs_disks())
    }

    async fn strike(&self, controls: &Controls, rng: Rng) -> Struck {
        let over = CancellationToken::new();
        let guard = over.clone().drop_guard();
        let rage = tokio::spawn(self.clone().rage(controls.clone(), rng, over));
        Ok(Box::new(Raging { rage, guard }))
    }
}

impl Storm {
    async fn rage(
        self,
        controls: Controls,
        mut rng: Rng,
        over: CancellationToken,
    ) -> Result<Tally, NotInstalled> {
        let mut tally = Tally::default();
        while !over.is_cancelled() {
            let (fault, name) = self.faults.choose(&mut rng).expect("checked when it was read");
            let [hold, rest] = [self.hold_ms, self.rest_ms].map(|span| draw(span, &mut rng));
            let own = Rng::from_rng(&mut rng);
            match fault.install(&controls, own).await {
                Ok(active) => {
                    controls.hooks.note(name, active.describe());
                    pass(hold, &over).await;
                    let ending = active.heal().await?;
                    controls.hooks.note(&format!("heal-{name}"), json!(ending));
                    tally.add(name, matches!(ending, Ending::Installed { .. }));
                }
                Err(NotInstalled::Harness(reason)) => return Err(NotInstalled::Harness(reason)),
                Err(_missed) => tally.add(name, false),
            }
            pass(rest, &over).await;
        }
        Ok(tally)
    }
}

fn draw([least, most]: [u64; 2], rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.random_range(least..=most))
}

/// Lets time pass until the storm is over at the latest.
async fn pass(time: Duration, over: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = over.cancelled() => {}
    }
}

/// How often each fault was tried and acted.
#[derive(Debug, Default)]
struct Tally(std::collections::BTreeMap<String, [u64; 2]>);

impl Tally {
    fn add(&mut self, name: &str, acted: bool) {
        let [tried, proved] = self.0.entry(name.to_owned()).or_default();
        *tried += 1;
        *proved += u64::from(acted);
    }

    fn ending(&self) -> Ending {
        if self.0.values().all(|[_, proved]| *proved == 0) {
            return Ending::Indeterminate { reason: "none of its faults acted".to_owned() };
        }
        let each = self
            .0
            .iter()
            .map(|(name, [tried, acted])| (name.clone(), json!({"tried": tried, "acted": acted})));
        Ending::Installed { proof: Value::Object(each.collect()) }
    }
}

struct Raging {
    rage: JoinHandle<Result<Tally, NotInstalled>>,
    guard: DropGuard,
}

impl Active for Raging {
    fn describe(&self) -> Value {
        json!({})
    }

    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            drop(self.guard);
            let tally = self.rage.await.map_err(|e| NotInstalled::Harness(e.to_string()))??;
            Ok(tally.ending())
        })
    }
}
