//! `highwater doctor`.

use clap::Args;

use super::{Exit, out};
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
        out::json(&checks);
        return Exit::Valid;
    }
    for check in &checks {
        let mark = if check.ok { "yes" } else { "no" };
        out::line(&format!("{:3} {:24} {}", mark, check.name, check.found));
        if !check.ok && !check.skipped.is_empty() {
            out::line(&format!("    skipped without it: {}", check.skipped));
        }
    }
    Exit::Valid
}
