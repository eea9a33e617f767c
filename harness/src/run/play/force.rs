//! Faults in force, and how they end.

use highwater_history::outcome::{FaultOutcome, FaultStatus};
use serde_json::{Value, json};

use crate::{
    clock::RunClock,
    fault::Active,
    nemesis::{Controls, Ending, NotInstalled},
    run::fail::Failure,
};

/// A fault in force.
pub(super) struct Installed {
    pub active: Box<dyn Active>,
    pub outcome: FaultOutcome,
}

/// Heals a fault and says how it ended.
pub(super) async fn heal(
    installed: Installed,
    controls: Controls,
    clock: RunClock,
) -> (FaultOutcome, Result<(), Failure>) {
    let Installed { active, mut outcome } = installed;
    let ending = active.heal().await;
    outcome.to = Some(clock.now_ns());
    let result = match ending {
        Ok(Ending::Installed { proof }) => {
            outcome.status = FaultStatus::Installed;
            outcome.proof = proof;
            Ok(())
        }
        Ok(Ending::Skipped { reason }) => {
            outcome.status = FaultStatus::Skipped;
            outcome.reason = Some(reason);
            Ok(())
        }
        Ok(Ending::Indeterminate { reason })
        | Err(NotInstalled::Indeterminate(reason) | NotInstalled::Skipped(reason)) => {
            outcome.status = FaultStatus::Indeterminate;
            outcome.reason = Some(reason);
            Ok(())
        }
        Err(NotInstalled::Harness(why)) => Err(Failure::Harness(why)),
    };
    let value = json!({"fault": outcome.kind, "targets": outcome.targets, "proof": outcome.proof});
    controls.hooks.note("heal", value);
    (outcome, result)
}

/// The outcome of a fault of which nothing is known yet.
pub(super) fn fault_outcome(name: &str) -> FaultOutcome {
    FaultOutcome {
        kind: name.to_owned(),
        targets: Vec::new(),
        status: FaultStatus::Indeterminate,
        reason: None,
        from: None,
        to: None,
        proof: Value::Null,
    }
}

/// The nodes or links that a fault's description names.
pub(super) fn targets(described: &Value) -> Vec<String> {
    let list = ["nodes", "links"].iter().find_map(|name| described.get(*name)?.as_array());
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    list.map_or_else(Vec::new, |items| items.iter().map(text).collect())
}
