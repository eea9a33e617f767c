//! `highwater-check`: judges a run folder or a history file.

use std::{
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use highwater_checker::{
    cli::{CheckArgs, FAILURE, VERSION, options, status_of},
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
        Ok((status, shown)) => match print(&shown) {
            Ok(()) => ExitCode::from(status),
            Err(said) => failed(FAILURE, &format!("standard output: {said}")),
        },
        Err(error) => failed(status_of(&error), &format!("{error:#}")),
    }
}

fn print(shown: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(shown.as_bytes())?;
    out.flush()
}

fn failed(status: u8, why: &str) -> ExitCode {
    // The exit status stands whether or not anybody reads.
    let _ = writeln!(io::stderr(), "highwater-check: {why}");
    ExitCode::from(status)
}
