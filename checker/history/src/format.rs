//! Reading and writing versioned JSON documents, and the errors of all formats.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    str::Utf8Error,
};

use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use crate::{
    packed::{self, TooLong},
    unique::Unique,
};

/// Why a file of a run folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The file cannot be read or written.
    #[error("{}: {said}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        said: io::Error,
    },
    /// A line that is not the last is not what it should be.
    #[error("{}: line {line}: {why}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong, the field named.
        why: String,
    },
    /// A document is not what it should be.
    #[error("{}: {why}", file.display())]
    Document {
        /// The file.
        file: PathBuf,
        /// What is wrong, the field named.
        why: String,
    },
    /// The file was written in a format version that this program does not know.
    #[error(
        "{}: {what} format {found} is unknown, this program reads format {known}; \
         use the release that wrote it",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// Which format: manifest, history, samples, ...
        what: &'static str,
        /// The version in the file.
        found: u64,
        /// The version that this program reads.
        known: u64,
    },
}

impl FormatError {
    /// An I/O error at a file.
    pub fn io(file: &Path, said: io::Error) -> Self {
        Self::Io { file: file.to_owned(), said }
    }

    /// What is wrong within a line, as a parser of that line alone says it.
    pub(crate) fn line(file: &Path, line: u64, why: &str) -> Self {
        Self::Line { file: file.to_owned(), line, why: in_line(why) }
    }

    /// An error at reading a line, which may be the line's own.
    pub(crate) fn reading(file: &Path, line: u64, said: io::Error) -> Self {
        let inner = said.get_ref();
        if let Some(error) = inner.and_then(|inner| inner.downcast_ref::<Utf8Error>()) {
            return Self::line(file, line, &not_text(*error));
        }
        match inner.and_then(|inner| inner.downcast_ref::<TooLong>()) {
            Some(error) => Self::line(file, line, &error.to_string()),
            None => Self::io(file, said),
        }
    }

    /// A document or file as a whole is wrong.
    pub fn document(file: &Path, why: impl Into<String>) -> Self {
        Self::Document { file: file.to_owned(), why: why.into() }
    }
}

/// A JSON document of the run folder: one object with a `format` version.
pub trait Document: Serialize + DeserializeOwned {
    /// What the document is called in messages.
    const WHAT: &'static str;
    /// The version that this program reads and writes.
    const FORMAT: u64;

    /// Reads and checks the version before anything else; names ending in `.gz` and `.zst` are
    /// unpacked.
    fn read(file: &Path) -> Result<Self, FormatError> {
        let bytes = packed::read(file).map_err(|source| FormatError::io(file, source))?;
        Self::of_bytes(file, bytes)
    }

    /// The same; none where the document ends before its time, since its writer was cut short.
    fn read_if_whole(file: &Path) -> Result<Option<Self>, FormatError> {
        let bytes = fs::read(file).map_err(|source| FormatError::io(file, source))?;
        match goes_on(&bytes) {
            true => Ok(None),
            false => Self::of_bytes(file, bytes).map(Some),
        }
    }

    /// The document that the bytes of a file are.
    fn of_bytes(file: &Path, bytes: Vec<u8>) -> Result<Self, FormatError> {
        let text = String::from_utf8(bytes)
            .map_err(|error| FormatError::document(file, not_text(error.utf8_error())))?;
        let version: Version = parse(&text).map_err(|why| FormatError::document(file, why))?;
        check_version(file, Self::WHAT, version.format, Self::FORMAT)?;
        parse_unique(&text).map_err(|why| FormatError::document(file, why))
    }

    /// Writes the document and syncs it; an existing file is replaced as a whole.
    fn write(&self, file: &Path) -> Result<(), FormatError> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| FormatError::document(file, error.to_string()))?;
        text.push(b'\n');
        write_synced(file, &text).map_err(|source| FormatError::io(file, source))
    }
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

/// Refuses a version that is not the known one, by name.
pub(crate) fn check_version(
    file: &Path,
    what: &'static str,
    found: u64,
    known: u64,
) -> Result<(), FormatError> {
    if found == known {
        return Ok(());
    }
    Err(FormatError::Version { file: file.to_owned(), what, found, known })
}

/// Refuses a file whose header says that it is another one.
pub(crate) fn check_kind(file: &Path, found: &str, known: &str) -> Result<(), FormatError> {
    if found == known {
        return Ok(());
    }
    let why = format!("field `kind`: {found:?}, expected {known:?}");
    Err(FormatError::Line { file: file.to_owned(), line: 1, why })
}

/// Whether a JSON text goes on where the bytes end.
pub(crate) fn goes_on(bytes: &[u8]) -> bool {
    // Behind these a number has to go on, or a word may end.
    let to = bytes.iter().rposition(|byte| !b"-+.eE".contains(byte)).map_or(0, |last| last + 1);
    serde_json::from_slice::<IgnoredAny>(&bytes[..to]).is_err_and(|error| error.is_eof())
}

/// A parser's words on a line that it got alone: all lines are its first, and the column may help.
fn in_line(why: &str) -> String {
    let (what, place) = why.rsplit_once(" at line ").unwrap_or((why, ""));
    match place.split_once(" column ") {
        Some(("1", column)) if column != "0" => format!("{what} (column {column})"),
        Some(_) => what.to_owned(),
        None => why.to_owned(),
    }
}

/// What is wrong with bytes that are no text.
pub(crate) fn not_text(error: Utf8Error) -> String {
    format!("it is no text: byte {} is not UTF-8", error.valid_up_to() + 1)
}

/// Parses JSON; the error names the path to the field.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        // The parts of a path that are not known are question marks.
        match path.trim_end_matches(['?', '.']) {
            "" => error.inner().to_string(),
            path => format!("field `{path}`: {}", error.inner()),
        }
    })?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// The same where no object may name a field twice.
pub(crate) fn parse_unique<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    parse::<Unique>(text)?;
    parse(text)
}

/// Writes a document as one line, packed by the file's suffix, as [`write_synced`] does.
pub fn write_packed<D: Document>(document: &D, file: &Path) -> Result<(), FormatError> {
    let mut text = serde_json::to_vec(document)
        .map_err(|error| FormatError::document(file, error.to_string()))?;
    text.push(b'\n');
    let write = |text: Vec<u8>| write_synced(file, &packed::pack(file, text)?);
    write(text).map_err(|source| FormatError::io(file, source))
}

/// Writes a file that is there as a whole or not at all; what could not be written leaves nothing.
///
/// # Errors
/// When it cannot be written.
pub fn write_synced(file: &Path, text: &[u8]) -> io::Result<()> {
    if file.metadata().is_ok_and(|there| !there.is_file()) {
        let why = "what is there is no regular file, and would be replaced";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // The whole name: others may write files beside it that end in other ways.
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let beside = file.with_file_name(name);
    let written = File::create(&beside).and_then(|mut out| {
        out.write_all(text)?;
        out.sync_all()?;
        fs::rename(&beside, file)
    });
    if let Err(error) = written {
        // The first failure is the one to tell.
        let _as_it_is = fs::remove_file(&beside);
        return Err(error);
    }
    match file.parent() {
        Some(parent) if parent != Path::new("") => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}
