//! Converts a history from one format into another, event by event.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    edn::{Keys, NoNumber, write_event},
    event::Event,
    format::FormatError,
    lines::unfinished,
    packed::PackedWriter,
    reader::{HistoryFile, HistoryFormat, HistoryReader},
};

/// What was converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// How many events there were.
    pub events: u64,
    /// The line from which on the history is missing, if it was cut; what was written is cut too.
    pub dropped_line: Option<u64>,
}

/// Why a history was not converted; nothing was written then.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// It cannot be read.
    #[error(transparent)]
    Source(FormatError),
    /// Nothing can be created where it was to go.
    #[error("{}: {said}", file.display())]
    Create {
        /// Where it was to go.
        file: PathBuf,
        /// What the system said.
        said: io::Error,
    },
    /// It could not be written to its end.
    #[error("{}: {said}", file.display())]
    Write {
        /// Where it was to go.
        file: PathBuf,
        /// What the system said.
        said: io::Error,
    },
}

/// What ends a history that was cut: a line that only begins, which readers of both formats drop.
const CUT: &str = "{";
/// Bytes that may wait before they are written.
const WAITING_BYTES: usize = 1 << 18;

/// Reads a history and writes it in another format. The file gets its name once it is complete.
///
/// # Errors
/// When the one cannot be read or the other cannot be written.
pub fn convert(
    from: &HistoryFile,
    to: &Path,
    format: HistoryFormat,
) -> Result<Converted, ConvertError> {
    let written = match format {
        HistoryFormat::Jsonl => write(from, to, Target::Jsonl),
        HistoryFormat::Edn => match write(from, to, Target::Edn(Keys::Numbers)) {
            // Most histories have keys of one kind: looking for others first would cost more than
            // beginning again.
            Err(Stopped::Mixed) => write(from, to, Target::Edn(Keys::Texts)),
            written => written,
        },
    };
    written.map_err(|stopped| match stopped {
        Stopped::Source(error) => ConvertError::Source(error),
        Stopped::Create(said) => ConvertError::Create { file: to.to_owned(), said },
        Stopped::Write(said) => ConvertError::Write { file: to.to_owned(), said },
        Stopped::Mixed => unreachable!("any key can be written as a text"),
    })
}

#[derive(Clone, Copy)]
enum Target {
    Jsonl,
    Edn(Keys),
}

enum Stopped {
    Source(FormatError),
    Create(io::Error),
    Write(io::Error),
    /// A key is no number, and others were written as such.
    Mixed,
}

fn write(from: &HistoryFile, to: &Path, format: Target) -> Result<Converted, Stopped> {
    let reader = HistoryReader::open(from).map_err(Stopped::Source)?;
    let beside = unfinished(to);
    let written = PackedWriter::create(&beside, to)
        .map_err(Stopped::Create)
        .and_then(|out| copy(reader, out, format))
        .and_then(|converted| {
            let sync = || File::open(&beside)?.sync_all();
            sync().and_then(|()| fs::rename(&beside, to)).map_err(Stopped::Write)?;
            Ok(converted)
        });
    if written.is_err() {
        // The first failure is the one to tell.
        let _as_it_is = fs::remove_file(&beside);
    }
    written
}

fn copy(
    mut reader: HistoryReader,
    mut out: PackedWriter,
    format: Target,
) -> Result<Converted, Stopped> {
    let mut waiting = String::with_capacity(WAITING_BYTES);
    let mut events = 0;
    for event in reader.by_ref() {
        append(&mut waiting, &event.map_err(Stopped::Source)?, format)?;
        events += 1;
        if waiting.len() >= WAITING_BYTES {
            out.write_all(waiting.as_bytes()).map_err(Stopped::Write)?;
            waiting.clear();
        }
    }
    let dropped_line = reader.dropped_line();
    if dropped_line.is_some() {
        waiting.push_str(CUT);
    }
    out.write_all(waiting.as_bytes()).and_then(|()| out.finish()).map_err(Stopped::Write)?;
    Ok(Converted { events, dropped_line })
}

fn append(waiting: &mut String, event: &Event, format: Target) -> Result<(), Stopped> {
    match format {
        Target::Jsonl => {
            let line = serde_json::to_string(event).expect("an event is JSON");
            waiting.push_str(&line);
            waiting.push('\n');
            Ok(())
        }
        Target::Edn(keys) => write_event(waiting, event, keys).map_err(|NoNumber| Stopped::Mixed),
    }
}
