//! `highwater-check`: judges a run folder or a history file.

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use clap::Parser;
use highwater_checker::cli::{CheckArgs, FAILURE, USAGE, VERSION, options};

/// Judges a run folder or a history file. Exit status: 0 valid, 1 invalid, 2 unknown, 3 vacuous,
/// 64 wrong option or file, 70 failure of this program.
#[derive(Parser)]
#[command(name = "highwater-check", version = VERSION)]
struct Cli {
    #[command(flatten)]
    args: CheckArgs,
}

fn main() -> ExitCode {
    let cli: Cli = match options() {
        Ok(cli) => cli,
        Err(status) => return status,
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
