//! `highwater-check`: judges a run folder or a history file.

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use clap::Parser;
use highwater_checker::cli::{CheckArgs, USAGE};

/// Judges a run folder or a history file. Exit status: 0 valid, 1 invalid, 2 unknown, 3 vacuous,
/// 64 wrong option or file, 70 failure of this program.
#[derive(Parser)]
#[command(name = "highwater-check", version = VERSION)]
struct Cli {
    #[command(flatten)]
    args: CheckArgs,
}

/// The version with the commit.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("HIGHWATER_COMMIT"), ")");

/// Exit status for our own failures.
const FAILURE: u8 = 70;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = !error.use_stderr();
            // Nothing is left to tell when the terminal is gone.
            let _ = error.print();
            return if asked_for { ExitCode::SUCCESS } else { ExitCode::from(USAGE) };
        }
    };
    let Ok(judged) = catch_unwind(AssertUnwindSafe(|| cli.args.run())) else {
        return ExitCode::from(FAILURE);
    };
    match judged {
        Ok((verdict, shown)) => match std::io::stdout().write_all(shown.as_bytes()) {
            Ok(()) => ExitCode::from(verdict.exit),
            Err(_) => ExitCode::from(FAILURE),
        },
        Err(error) => {
            // The exit status stands whether or not anybody reads.
            let _ = writeln!(std::io::stderr(), "highwater-check: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}
