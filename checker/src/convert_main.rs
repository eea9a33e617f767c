//! `highwater-convert`: writes a history in another format.

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use highwater_checker::cli::{FAILURE, USAGE, VERSION, options};
use highwater_history::{
    convert::{ConvertError, convert},
    reader::{HistoryFile, HistoryFormat},
};

/// Writes a history in another format, as the suffixes say: .jsonl is ours, .edn is Jepsen's; each
/// also with .gz or .zst. Exit status: 0 converted, 64 wrong option or file, 70 failure of this
/// program or of writing.
#[derive(Parser)]
#[command(name = "highwater-convert", version = VERSION)]
struct Cli {
    /// The history.
    from: PathBuf,
    /// Where it goes; a file that is there is replaced.
    to: PathBuf,
}

/// Why nothing was converted: the status to end with, and a sentence.
struct Refusal(u8, String);

fn main() -> ExitCode {
    let cli: Cli = match options() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let Ok(done) = catch_unwind(AssertUnwindSafe(|| run(&cli))) else {
        return ExitCode::from(FAILURE);
    };
    let (status, said) = match done {
        Ok(said) => (ExitCode::SUCCESS, said),
        Err(Refusal(status, why)) => (ExitCode::from(status), why),
    };
    // The exit status stands whether or not anybody reads.
    let _ = writeln!(std::io::stderr(), "highwater-convert: {said}");
    status
}

fn run(cli: &Cli) -> Result<String, Refusal> {
    let format = format(&cli.to)?;
    let from = HistoryFile { format: self::format(&cli.from)?, ..HistoryFile::from(&cli.from) };
    let converted = convert(&from, &cli.to, format).map_err(|error| match error {
        ConvertError::Source(_) | ConvertError::Create { .. } => Refusal(USAGE, error.to_string()),
        ConvertError::Write { .. } => Refusal(FAILURE, error.to_string()),
    })?;
    let (events, to) = (converted.events, cli.to.display());
    let cut = match converted.dropped_line {
        Some(line) => {
            format!("; {} was cut at line {line}, and so is this", cli.from.display())
        }
        None => String::new(),
    };
    Ok(format!("{events} events in {to}{cut}"))
}

fn format(file: &Path) -> Result<HistoryFormat, Refusal> {
    HistoryFormat::named(file).ok_or_else(|| {
        let file = file.display();
        let why = format!("{file}: a history ends in .jsonl or .edn, or these with .gz or .zst");
        Refusal(USAGE, why)
    })
}
