//! Converts a history from one format into another, event by event.

use std::{
    fs::{self, File},
    io::{self, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use crate::{
    ahead::read_ahead,
    columns::file::BinaryWriter,
    edn::{Keys, NoNumber, write_event},
    event::Event,
    format::FormatError,
    lines::unfinished,
    packed::PackedWriter,
    reader::{HistoryFile, HistoryFormat, HistoryReader},
    verifiable,
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
const CUT: &[u8] = b"{";
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
    write_as(to, format, |out| out.put_all(from))
}

/// Reads a history and writes it in binary into a file that is open, which messages call `named`.
/// It is not synced: who opened it says how long it is needed.
///
/// # Errors
/// When the one cannot be read or the other cannot be written.
pub fn convert_into(
    from: &HistoryFile,
    file: File,
    named: &Path,
) -> Result<Converted, ConvertError> {
    let write = || -> Result<Converted, Stopped> {
        let blocks = BinaryWriter::new(PackedWriter::plain(file)).map_err(Stopped::Write)?;
        let mut out = Out { to: To::Blocks(Box::new(blocks)), events: 0 };
        let dropped_line = out.put_all(from)?;
        let events = out.finish(dropped_line.is_some()).map_err(Stopped::Write)?;
        Ok(Converted { events, dropped_line })
    };
    write().map_err(|stopped| stopped.at(named))
}

/// Reads logs of Kafka's VerifiableProducer and VerifiableConsumer, each of one process, and writes
/// them as one history; what that history does not tell is said in notes, which stand in it too.
///
/// # Errors
/// When one of them is no such log, or the history cannot be written.
pub fn convert_logs(
    logs: &[PathBuf],
    to: &Path,
    format: HistoryFormat,
) -> Result<(Converted, Vec<String>), ConvertError> {
    let told = verifiable::read(logs).map_err(ConvertError::Source)?;
    let converted = write_as(to, format, |out| {
        for (line, event) in (1..).zip(told.events()) {
            out.put(line, event)?;
        }
        Ok(told.is_cut.then_some(out.events + 1))
    })?;
    Ok((converted, told.notes().collect()))
}

#[derive(Clone, Copy)]
enum Target {
    Jsonl,
    Edn(Keys),
    Binary,
}

enum Stopped {
    Source(FormatError),
    Create(io::Error),
    Write(io::Error),
    /// A key is no number, and others were written as such.
    Mixed,
}

impl Stopped {
    /// As an error of what was written there.
    fn at(self, to: &Path) -> ConvertError {
        let file = to.to_owned();
        match self {
            Self::Source(error) => ConvertError::Source(error),
            Self::Create(said) => ConvertError::Create { file, said },
            Self::Write(said) => ConvertError::Write { file, said },
            Self::Mixed => unreachable!("any key can be written as a text"),
        }
    }
}

/// Writes a history; `fill` gives it its events, maybe more than once, and says from which line on
/// more is missing.
fn write_as(
    to: &Path,
    format: HistoryFormat,
    fill: impl Fn(&mut Out) -> Result<Option<u64>, Stopped>,
) -> Result<Converted, ConvertError> {
    let written = match format {
        HistoryFormat::Jsonl => write(to, Target::Jsonl, &fill),
        HistoryFormat::Binary => write(to, Target::Binary, &fill),
        HistoryFormat::Edn => match write(to, Target::Edn(Keys::Numbers), &fill) {
            // Most histories have keys of one kind: looking for others first would cost more than
            // beginning again.
            Err(Stopped::Mixed) => write(to, Target::Edn(Keys::Texts), &fill),
            written => written,
        },
    };
    written.map_err(|stopped| stopped.at(to))
}

fn write(
    to: &Path,
    format: Target,
    fill: impl Fn(&mut Out) -> Result<Option<u64>, Stopped>,
) -> Result<Converted, Stopped> {
    let beside = unfinished(to);
    let written = Out::create(&beside, to, format).and_then(|mut out| {
        let dropped_line = fill(&mut out)?;
        let events = out.finish(dropped_line.is_some()).map_err(Stopped::Write)?;
        let sync = || File::open(&beside)?.sync_all();
        sync().and_then(|()| fs::rename(&beside, to)).map_err(Stopped::Write)?;
        Ok(Converted { events, dropped_line })
    });
    if written.is_err() {
        // The first failure is the one to tell.
        let _as_it_is = fs::remove_file(&beside);
    }
    written
}

/// Takes the events of a history that is written.
struct Out {
    to: To,
    events: u64,
}

enum To {
    Lines { file: PackedWriter, keys: Option<Keys>, waiting: String },
    Blocks(Box<BinaryWriter<PackedWriter>>),
}

impl Out {
    fn create(file: &Path, named: &Path, format: Target) -> Result<Self, Stopped> {
        let file = PackedWriter::create(file, named).map_err(Stopped::Create)?;
        let lines = |file, keys| To::Lines { file, keys, waiting: String::new() };
        let to = match format {
            Target::Jsonl => lines(file, None),
            Target::Edn(keys) => lines(file, Some(keys)),
            Target::Binary => {
                To::Blocks(Box::new(BinaryWriter::new(file).map_err(Stopped::Write)?))
            }
        };
        Ok(Self { to, events: 0 })
    }

    /// Takes an event that stood on a line, which blocks keep.
    fn put(&mut self, line: u64, event: Event) -> Result<(), Stopped> {
        self.events += 1;
        let (file, waiting) = match &mut self.to {
            To::Blocks(blocks) => return blocks.put(line, event).map_err(Stopped::Write),
            To::Lines { file, keys, waiting } => {
                append(waiting, &event, *keys)?;
                (file, waiting)
            }
        };
        if waiting.len() >= WAITING_BYTES {
            file.write_all(waiting.as_bytes()).map_err(Stopped::Write)?;
            waiting.clear();
        }
        Ok(())
    }

    /// Takes all events of a history, and says from which line on more is missing.
    fn put_all(&mut self, from: &HistoryFile) -> Result<Option<u64>, Stopped> {
        let reader = HistoryReader::open(from).map_err(Stopped::Source)?;
        let read = read_ahead(reader, |columns| {
            let mut rows = columns.rows();
            let put = rows.try_for_each(|row| self.put(row.head.line, columns.event(&row)));
            put.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        let read = read.map_err(Stopped::Source)?;
        read.broke_off.map_or(Ok(read.dropped_line), Err)
    }

    fn finish(self, is_cut: bool) -> io::Result<u64> {
        let file = match self.to {
            To::Blocks(blocks) => blocks.finish(is_cut)?,
            To::Lines { mut file, waiting, .. } => {
                file.write_all(waiting.as_bytes())?;
                if is_cut {
                    file.write_all(CUT)?;
                }
                file
            }
        };
        file.finish()?;
        Ok(self.events)
    }
}

/// JSON, or EDN with keys of a kind.
fn append(waiting: &mut String, event: &Event, keys: Option<Keys>) -> Result<(), Stopped> {
    let Some(keys) = keys else {
        let line = serde_json::to_string(event).expect("an event is JSON");
        waiting.push_str(&line);
        waiting.push('\n');
        return Ok(());
    };
    write_event(waiting, event, keys).map_err(|NoNumber| Stopped::Mixed)
}
