//! Where the shim is, and whether a schedule needs it.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{DiskError, Disks};
use crate::{
    fault,
    steps::{Schedule, bind},
};

/// The shim's file name.
pub const LIBRARY: &str = "libhighwater_shim.so";
/// Names the shim when it does not lie beside the harness.
pub const VARIABLE: &str = "HIGHWATER_SHIM";

/// Finds the shim: the variable, else beside the running executable.
///
/// # Errors
/// One sentence that says where it was looked for.
pub fn find() -> Result<PathBuf, DiskError> {
    if let Some(named) = env::var_os(VARIABLE) {
        let path = PathBuf::from(named);
        let why = || format!("{VARIABLE} is {}, and there is no such file", path.display());
        return if path.is_file() { Ok(path) } else { Err(missing(why())) };
    }
    let own = env::current_exe().map_err(|error| missing(error.to_string()))?;
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join(LIBRARY));
    beside.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let folder = own.parent().unwrap_or(Path::new(".")).display();
        let build = format!("build it (`cargo build -p highwater-shim`) into {folder}");
        missing(format!("{build}, or set {VARIABLE}"))
    })
}

fn missing(advice: String) -> DiskError {
    DiskError::Missing { what: format!("preload library `{LIBRARY}`"), advice }
}

/// The disks of a run's nodes, watched if a step of the schedule needs it; other runs pay nothing.
///
/// # Errors
/// When it does and the shim is not there.
pub fn for_schedule(schedule: &Schedule) -> Result<Option<Arc<Disks>>, DiskError> {
    if is_needed(schedule) { Ok(Some(Disks::new(find()?))) } else { Ok(None) }
}

fn is_needed(schedule: &Schedule) -> bool {
    schedule.steps.iter().any(|step| {
        let act = &step.act;
        let fault = act.fault.as_ref().map(|name| fault::parse(name, &bind::sample(&act.with)));
        fault.is_some_and(|fault| fault.is_ok_and(|fault| fault.needs_disks()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schedule(step: serde_json::Value) -> Schedule {
        let schedule = json!({"format": 1, "name": "x", "steps": [step]});
        serde_json::from_value(schedule).unwrap()
    }

    #[test]
    fn only_faults_of_the_disk_need_it_nested_or_not() {
        let storm = |fault: &str| json!({"do": "storm", "with": {"of": [{"fault": fault}]}});
        let cases = [
            (json!({"do": "power-loss", "with": {"aim": {"nodes": ["$old"]}}}), true),
            (json!({"do": "slow-disk", "with": {"fsync_ms": 5}}), true),
            (json!({"do": "disk-error"}), true),
            (json!({"do": "wipe"}), false),
            (json!({"do": "kill"}), false),
            (storm("power-loss"), true),
            (storm("pause"), false),
            (json!({"when": "after 1s"}), false),
        ];
        for (step, wanted) in cases {
            assert_eq!(is_needed(&schedule(step.clone())), wanted, "{step}");
        }
    }
}
