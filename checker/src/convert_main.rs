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
    convert::{ConvertError, convert, convert_logs},
    reader::{HistoryFile, HistoryFormat},
};

/// Writes a history in another format, as the suffixes say: .jsonl is ours, .edn is Jepsen's, each
/// also with .gz or .zst; .hwh is ours in binary. Exit status: 0 converted, 64 wrong option or
/// file, 70 failure of this program or of writing.
#[derive(Parser)]
#[command(name = "highwater-convert", version = VERSION)]
struct Cli {
    /// What is read are logs of Kafka's VerifiableProducer and VerifiableConsumer, one of each
    /// process; their lines say which is whose.
    #[arg(long)]
    verifiable: bool,
    /// The history, or the logs.
    #[arg(required = true, value_name = "FROM")]
    from: Vec<PathBuf>,
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
    let refused = |error: ConvertError| match error {
        ConvertError::Source(_) | ConvertError::Create { .. } => Refusal(USAGE, error.to_string()),
        ConvertError::Write { .. } => Refusal(FAILURE, error.to_string()),
    };
    let to = cli.to.display();
    if cli.verifiable {
        let (converted, notes) = convert_logs(&cli.from, &cli.to, format).map_err(refused)?;
        let notes: Vec<String> = notes.iter().map(|note| format!("\n  note: {note}")).collect();
        return Ok(format!("{} events in {to}{}", converted.events, notes.concat()));
    }
    let [from] = cli.from.as_slice() else {
        let why = "only logs (--verifiable) can be several; give one history and where it goes";
        return Err(Refusal(USAGE, why.to_owned()));
    };
    let file = HistoryFile { format: self::format(from)?, ..HistoryFile::from(from) };
    let converted = convert(&file, &cli.to, format).map_err(refused)?;
    let cut = match converted.dropped_line {
        Some(line) => format!("; {} was cut at line {line}, and so is this", from.display()),
        None => String::new(),
    };
    Ok(format!("{} events in {to}{cut}", converted.events))
}

fn format(file: &Path) -> Result<HistoryFormat, Refusal> {
    HistoryFormat::named(file).ok_or_else(|| {
        let file = file.display();
        let why =
            format!("{file}: a history ends in .jsonl or .edn, also with .gz or .zst, or in .hwh");
        Refusal(USAGE, why)
    })
}
