//! `highwater heal`.

use std::path::PathBuf;

use clap::Args;

use super::Exit;
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
            eprintln!("highwater: {error}");
            return Exit::Usage;
        }
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).expect("a report is plain JSON"));
    } else if report.is_empty() {
        println!("nothing to heal");
    } else {
        for healed in &report.resumed {
            println!("resumed {}", healed.name);
        }
        for healed in &report.killed {
            println!("killed {}", healed.name);
        }
        for left in &report.left {
            println!("left: {left}");
        }
    }
    if report.left.is_empty() { Exit::Valid } else { Exit::Harness }
}
