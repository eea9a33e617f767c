//! The recorder: writes a history, one line an event, invocations ahead of their bytes.
//!
//! The order of use makes the history complete: append the invocations of all operations that are
//! about to start, [`Recorder::flush`], then let their bytes leave. What was flushed is the
//! kernel's, so a killed harness loses nothing that had an effect.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{event::Event, types::TimeNs};

/// Why a history cannot be written any further.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no space left.
    #[error("{}: no space left for the history; free some or choose another --out", .0.display())]
    Full(PathBuf),
    /// Anything else.
    #[error("{}: {said}", file.display())]
    Io {
        /// The history.
        file: PathBuf,
        /// What the system said.
        said: io::Error,
    },
}

/// Writes one history.
pub struct Recorder<W: Write = File> {
    file: PathBuf,
    out: W,
    waiting: Vec<u8>,
    next_index: u64,
    last_time: TimeNs,
}

impl Recorder<File> {
    /// Creates the history file.
    pub fn create(file: &Path) -> Result<Self, RecordError> {
        let out = File::create(file).map_err(|said| typed(file, said))?;
        Ok(Self::new(file, out))
    }
}

impl<W: Write> Recorder<W> {
    /// Bytes that may wait before they are written without being asked to.
    const WAITING_BYTES: usize = 1 << 18;

    /// A recorder that writes to `out`; `file` names it in errors.
    pub fn new(file: &Path, out: W) -> Self {
        let waiting = Vec::with_capacity(Self::WAITING_BYTES);
        Self { file: file.to_owned(), out, waiting, next_index: 0, last_time: 0 }
    }

    /// Appends an event, gives it its index and returns it.
    ///
    /// The caller reads the clock; a time below that of the event before is raised to it, since
    /// clocks are read before events queue up here.
    pub fn append(&mut self, event: &mut Event) -> Result<u64, RecordError> {
        event.index = self.next_index;
        event.time = event.time.max(self.last_time);
        self.next_index += 1;
        self.last_time = event.time;
        serde_json::to_writer(&mut self.waiting, event)
            .map_err(|error| typed(&self.file, error.into()))?;
        self.waiting.push(b'\n');
        if self.waiting.len() >= Self::WAITING_BYTES {
            self.flush()?;
        }
        Ok(event.index)
    }

    /// Hands every waiting event to the kernel, in one write.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.out.write_all(&self.waiting).map_err(|said| typed(&self.file, said))?;
        self.waiting.clear();
        Ok(())
    }

    /// How many events were appended.
    pub fn len(&self) -> u64 {
        self.next_index
    }

    /// Whether no event was appended.
    pub fn is_empty(&self) -> bool {
        self.next_index == 0
    }
}

fn typed(file: &Path, said: io::Error) -> RecordError {
    match said.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            RecordError::Full(file.to_owned())
        }
        _ => RecordError::Io { file: file.to_owned(), said },
    }
}
