//! `highwater-check`: judges a run folder or a history file.

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use highwater_checker::{
    cli::{CheckArgs, FAILURE, USAGE, VERSION, options},
    shard_cli::{MergeArgs, ShardArgs},
};

/// Judges a run folder or a history file. Exit status: 0 valid, 1 invalid, 2 unknown, 3 vacuous,
/// 64 wrong option or file, 70 failure of this program.
#[derive(Parser)]
#[command(name = "highwater-check", version = VERSION)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    args: Option<CheckArgs>,
    #[command(flatten)]
    shard: ShardArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Makes the verdict of a history of its parts, each judged with --shard.
    Merge(MergeArgs),
}

impl Cli {
    /// What to print, and the exit status.
    fn run(&self) -> anyhow::Result<(u8, String)> {
        match (&self.command, &self.args) {
            (Some(Command::Merge(merge)), _) => merge.run().map(|(v, shown)| (v.exit, shown)),
            (None, Some(args)) => match self.shard.run(args) {
                Some(judged) => judged.map(|said| (0, said)),
                None => args.run().map(|(verdict, shown)| (verdict.exit, shown)),
            },
            (None, None) => anyhow::bail!("name a run folder or a history file"),
        }
    }
}

fn main() -> ExitCode {
    let cli: Cli = match options() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let Ok(judged) = catch_unwind(AssertUnwindSafe(|| cli.run())) else {
        return ExitCode::from(FAILURE);
    };
    match judged {
        Ok((status, shown)) => match std::io::stdout().write_all(shown.as_bytes()) {
            Ok(()) => ExitCode::from(status),
            Err(_) => ExitCode::from(FAILURE),
        },
        Err(error) => {
            // The exit status stands whether or not anybody reads.
            let _ = writeln!(std::io::stderr(), "highwater-check: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}
