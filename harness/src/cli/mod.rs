//! The command line of `highwater`.

mod check;
mod compare;
mod doctor;
mod exit;
mod heal;
mod list;
mod many;
mod out;
mod plan;
mod report;
mod run;

use clap::{Parser, Subcommand};
pub use exit::Exit;

use crate::run::RunArgs;

/// Starts real brokers, breaks them on purpose, and judges what came of it.
#[derive(Debug, Parser)]
#[command(name = "highwater", version = version(), propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One experiment: start, break, record, heal, read back, judge, report
    Run(Box<RunArgs>),
    /// What each choice of acks, min.insync.replicas, unclean election and flush costs and loses
    Compare(compare::CompareArgs),
    /// Judge a run folder or a history file again
    Check(check::CheckArgs),
    /// Render a judged run folder again
    Report(report::ReportArgs),
    /// Undo what a killed run left behind
    Heal(heal::HealArgs),
    /// List targets, workloads, schedules, faults, claims or mutants
    List(list::ListArgs),
    /// What this machine allows, and what will be skipped
    Doctor(doctor::DoctorArgs),
}

/// Runs the command line and gives the exit status.
pub fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return Exit::Usage;
            }
            out::note(printed);
            return out::end(Exit::Valid);
        }
    };
    out::end(carry_out(cli.command))
}

fn carry_out(command: Command) -> Exit {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Check(args) => check::check(&args),
        Command::Report(args) => report::report(&args),
        Command::Heal(args) => heal::heal(&args),
        Command::List(args) => list::list(&args),
        Command::Doctor(args) => doctor::doctor(&args),
    }
}

fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("HIGHWATER_COMMIT"), ")")
}
