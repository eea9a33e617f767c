//! `highwater doctor`.

use clap::Args;

use super::Exit;
use crate::doctor::examine;

/// Options of `doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Tells what this machine allows.
pub(super) fn doctor(args: &DoctorArgs) -> Exit {
    let checks = examine();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&checks).expect("checks are plain JSON"));
        return Exit::Valid;
    }
    for check in &checks {
        let mark = if check.ok { "yes" } else { "no" };
        println!("{:3} {:24} {}", mark, check.name, check.found);
        if !check.ok && !check.skipped.is_empty() {
            println!("    skipped without it: {}", check.skipped);
        }
    }
    Exit::Valid
}
