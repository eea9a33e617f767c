//! The command line of `highwater-check`, which `highwater check` shares.

use std::{
    fs::Metadata,
    io::{self, ErrorKind, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Parser, ValueEnum};
use highwater_history::{
    FormatError, Promise, RunFolder,
    convert::ConvertError,
    format::Document,
    reader::{HistoryFile, HistoryFormat},
    span::Span,
};

use crate::{
    History, Verdict, check,
    evidence::{Evidence, Instead},
    explain::explain,
    follow::{Followed, follow},
    judge::Options,
    limits::Limits,
    memory::{Memory, MemoryError, check_within},
    text,
    what_if::what_if,
};

/// Exit status for a wrong option or a file that cannot be read as what it should be.
pub const USAGE: u8 = 64;
/// Exit status for our own failures.
pub const FAILURE: u8 = 70;
/// The version with the commit.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("HIGHWATER_COMMIT"), ")");

/// The program's options, or the status to end with: help and version are told, and so is what is
/// wrong.
pub fn options<P: Parser>() -> Result<P, ExitCode> {
    P::try_parse().map_err(|error| {
        // Nothing is left to tell when the terminal is gone.
        let _ = error.print();
        if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
    })
}

/// The exit status of an error: failures of ours are that nothing more could be written; all others
/// are the user's.
pub fn status_of(error: &anyhow::Error) -> u8 {
    let full = |said: &io::Error| {
        matches!(
            said.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
        )
    };
    let is_ours = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(MemoryError::Spill(ConvertError::Write { .. })), _) => true,
        (_, Some(FormatError::Io { said, .. })) => full(said),
        _ => false,
    };
    if is_ours { FAILURE } else { USAGE }
}

/// What to judge and how.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// A run folder, a history file (.jsonl or .edn, also with .gz or .zst, or .hwh), or - for a
    /// history on standard input.
    pub path: PathBuf,
    /// The history's format.
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    /// A manifest to judge by instead of the folder's.
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// A folder of dumps to judge by instead of the folder's.
    #[arg(long, value_name = "DIR")]
    pub dumps: Option<PathBuf>,
    /// Judge as if this had been promised, as in acks=1 (repeatable).
    #[arg(long = "promise", value_name = "KEY=VALUE")]
    pub promises: Vec<String>,
    /// The longest that a key may acknowledge no send although some are asked for, as in 15s.
    #[arg(long, value_name = "TIME")]
    pub max_unavailable: Option<Span>,
    /// The longest from the last fault until each key acknowledges sends again.
    #[arg(long, value_name = "TIME")]
    pub max_recovery: Option<Span>,
    /// The longest from a record's acknowledgement until it is read.
    #[arg(long, value_name = "TIME")]
    pub max_lag: Option<Span>,
    /// Print exactly the verdict, as JSON.
    #[arg(long)]
    pub json: bool,
    /// Explain the finding of this number instead: the least that shows it, and why it cannot be.
    #[arg(long, value_name = "N")]
    pub explain: Option<usize>,
    /// Say too which weaker promises would make the same history legal.
    #[arg(long, conflicts_with = "explain")]
    pub what_if: bool,
    /// Judge within about so much memory, as in 2GiB, part by part; what the history says is kept
    /// in TMPDIR meanwhile.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["explain", "what_if"])]
    pub memory: Option<Memory>,
    /// Judge the history while it is written, and stop at the first violation that is certain
    /// whatever comes; at its end judge it as always.
    #[arg(long, conflicts_with_all = ["explain", "what_if", "memory", "dumps"])]
    pub follow: bool,
    /// Judge only these claims.
    #[arg(long, value_delimiter = ',', value_name = "CLAIM,...")]
    pub claims: Option<Vec<String>>,
}

/// A verdict as text, or as JSON.
pub(crate) fn shown(verdict: &Verdict, json: bool) -> anyhow::Result<String> {
    match json {
        true => as_json(verdict),
        false => Ok(text::of(verdict)),
    }
}

fn as_json(shown: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(shown).context("what is to be printed is no JSON")? + "\n")
}

/// The history's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// By suffix: .edn is Jepsen's EDN, all else JSON lines, and so is standard input; what begins
    /// as a binary history is one.
    Auto,
    /// JSON lines.
    Jsonl,
    /// The history.edn of Jepsen's Kafka workload.
    JepsenEdn,
}

impl Format {
    /// The format, where the user names one.
    fn named(self) -> Option<HistoryFormat> {
        match self {
            Self::Auto => None,
            Self::Jsonl => Some(HistoryFormat::Jsonl),
            Self::JepsenEdn => Some(HistoryFormat::Edn),
        }
    }
}

impl CheckArgs {
    /// Reads the evidence and judges it. Errors are the user's: bad option or bad file.
    pub fn judge(&self) -> anyhow::Result<Verdict> {
        Ok(check(&self.evidence()?, &self.options()?)?)
    }

    /// How to judge.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let mut promise = Promise::default();
        for text in &self.promises {
            promise.set(text)?;
        }
        let limits = Limits {
            unavailable: self.max_unavailable,
            recovery: self.max_recovery,
            lag: self.max_lag,
        };
        Ok(Options { promise, limits, claims: self.claims.clone() })
    }

    /// What there is to judge.
    pub(crate) fn evidence(&self) -> anyhow::Result<Evidence> {
        let instead = Instead { manifest: self.manifest.clone(), dumps: self.dumps.clone() };
        match self.is_stream() {
            true => self.stream(&instead),
            false => self.load(&instead),
        }
    }

    /// Whether the history comes in on standard input.
    fn is_stream(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Whether the history can be read only once, as a pipe can.
    fn is_read_once(&self) -> bool {
        let is_file = |there: Metadata| there.is_file() || there.is_dir();
        self.is_stream() || self.path.metadata().is_ok_and(|there| !is_file(there))
    }

    /// What stands in the folder or file.
    fn load(&self, instead: &Instead) -> anyhow::Result<Evidence> {
        let folder = self.path.display();
        if RunFolder::new(&self.path).is_running() {
            anyhow::bail!("the run in {folder} is still going on; judge it once it has ended");
        }
        let mut evidence = Evidence::load(&self.path, instead)?;
        if let (Some(format), History::File(file)) = (self.format.named(), &mut evidence.history) {
            if self.path.is_dir() && format != file.format {
                anyhow::bail!("{folder}: the history of a run folder is JSON lines");
            }
            file.format = format;
        }
        Ok(evidence)
    }

    /// What comes in on standard input.
    fn stream(&self, instead: &Instead) -> anyhow::Result<Evidence> {
        if io::stdin().is_terminal() {
            anyhow::bail!("standard input is a terminal; pipe a history into it, or name a file");
        }
        let format = self.format.named().unwrap_or(HistoryFormat::Jsonl);
        Ok(Evidence::load_file(HistoryFile::standard_input(format), instead)?)
    }

    /// Judges, writes the verdict into a run folder, and says what to print. A folder that takes no
    /// file is judged all the same, with a note. Only a verdict on the folder as it stands is the
    /// run's; any other is only printed.
    pub fn run(&self) -> anyhow::Result<(Verdict, String)> {
        if self.explain.is_some() && self.is_read_once() {
            anyhow::bail!("--explain reads the history twice; give a file instead of a stream");
        }
        if self.follow
            && let Some(verdict) = self.follow()?
        {
            let shown = shown(&verdict, self.json)?;
            return Ok((verdict, shown));
        }
        let (mut evidence, options) = (self.evidence()?, self.options()?);
        let (mut verdict, what_if) = match (self.what_if, self.memory) {
            (false, None) => (check(&evidence, &options)?, None),
            (false, Some(memory)) => (check_within(&mut evidence, &options, memory)?, None),
            (true, _) => {
                what_if(&evidence, &options).map(|(verdict, told)| (verdict, Some(told)))?
            }
        };
        if !self.is_stream() && self.path.is_dir() && self.takes_it_as_it_stands() {
            let file = RunFolder::new(&self.path).verdict_path();
            if let Err(error) = verdict.write(&file) {
                verdict.notes.push(format!("the verdict was not kept: {error}"));
            }
        }
        let shown = match (self.explain, what_if) {
            (None, None) => shown(&verdict, self.json)?,
            (None, Some(told)) if self.json => as_json(&told)?,
            (None, Some(told)) => text::of(&verdict) + &told.text(),
            (Some(number), _) => {
                let explanation = explain(&mut evidence, &options, &verdict, number)?;
                if self.json { as_json(&explanation)? } else { explanation.text() }
            }
        };
        Ok((verdict, shown))
    }

    /// Judges a history while it is written. None where a run has come to its end: it is to be
    /// judged with all that it left.
    fn follow(&self) -> anyhow::Result<Option<Verdict>> {
        let options = self.options()?;
        if self.is_stream() || !self.path.is_dir() {
            let evidence = self.evidence()?;
            return Ok(Some(match follow(&evidence, &options)? {
                Followed::Stopped(verdict) => *verdict,
                Followed::Ended(read) => read.judge(&options)?,
            }));
        }
        let folder = RunFolder::new(&self.path);
        if !folder.is_running() {
            return Ok(None);
        }
        let manifest = self.manifest.clone().unwrap_or_else(|| folder.manifest_path());
        let instead = Instead { manifest: Some(manifest), dumps: None };
        let evidence = Evidence::load_file((&folder.history_path()).into(), &instead)?;
        if let Followed::Stopped(verdict) = follow(&evidence, &options)? {
            return Ok(Some(*verdict));
        }
        folder.wait_until_ended().context("nobody can tell whether the run has ended")?;
        Ok(None)
    }

    /// Whether all claims are judged, by the evidence and the promises that stand in the folder.
    fn takes_it_as_it_stands(&self) -> bool {
        let Self {
            path: _,
            format: _,
            json: _,
            explain: _,
            what_if: _,
            memory: _,
            follow: _,
            manifest,
            dumps,
            promises,
            max_unavailable,
            max_recovery,
            max_lag,
            claims,
        } = self;
        let unlimited = max_unavailable.or(*max_recovery).or(*max_lag).is_none();
        let by_itself = manifest.is_none() && dumps.is_none() && promises.is_empty();
        by_itself && unlimited && claims.is_none()
    }
}
