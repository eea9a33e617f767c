//! `highwater heal`.

use std::path::PathBuf;

use clap::Args;

use super::{Exit, out};
use crate::heal;

/// Options of `heal`.
#[derive(Debug, Args)]
pub(super) struct HealArgs {
    /// The folder of the run that was killed
    folder: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Undoes what a killed run left behind.
pub(super) fn heal(args: &HealArgs) -> Exit {
    let report = match heal::heal(&args.folder) {
        Ok(report) => report,
        Err(error) => {
            crate::stderr::line(format_args!("highwater: {error}"));
            return Exit::Usage;
        }
    };
    if args.json {
        out::json(&report);
    } else if report.is_empty() {
        out::line("nothing to heal");
    } else {
        for healed in &report.resumed {
            out::line(&format!("resumed {}", healed.name));
        }
        for healed in &report.killed {
            out::line(&format!("killed {}", healed.name));
        }
        for left in &report.left {
            out::line(&format!("left: {left}"));
        }
    }
    for failed in &report.failed {
        crate::stderr::line(format_args!("highwater: {failed}"));
    }
    if report.left.is_empty() && report.failed.is_empty() { Exit::Valid } else { Exit::Harness }
}
