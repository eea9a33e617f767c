//! Files of JSON lines whose first line is a header with kind and version.
//!
//! Samples, dumps, the committed metadata log and the heal journal are such files. Names ending in
//! `.gz` and `.zst` are packed. What a killed writer left is dropped and reported: an incomplete
//! last line, a packing without its end, a file that ends before its header does.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    format::{FormatError, check_kind, check_version, parse, parse_unique},
    packed::{LineReader, PackedWriter},
};

/// A kind of line: the header's `kind` and `format`.
pub trait Line: Serialize + DeserializeOwned {
    /// The header's `kind`, also the name in messages.
    const KIND: &'static str;
    /// The version that this program reads and writes.
    const FORMAT: u64;
    /// Whether the file is read while it grows. Any other is written beside its name and gets the
    /// name once it is complete.
    const GROWS: bool = false;
    /// What the header says beside kind and format.
    type Header: Serialize + DeserializeOwned;

    /// What is wrong with a line although it has the right shape.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A header that says nothing more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plain {}

#[derive(Serialize)]
struct Head<H> {
    format: u64,
    kind: String,
    #[serde(flatten)]
    header: H,
}

/// A file's lines, read as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines<L: Line> {
    /// What the header said.
    pub header: L::Header,
    /// The lines after it.
    pub lines: Vec<L>,
    /// The text of an incomplete last line that was dropped; empty where only the packing was cut.
    pub dropped: Option<String>,
}

impl<L: Line> Lines<L> {
    /// Reads a whole file.
    pub fn read(file: &Path) -> Result<Self, FormatError> {
        let read = Self::read_if_begun(file)?;
        read.ok_or_else(|| FormatError::document(file, "the file is empty, without a header"))
    }

    /// Reads a whole file; none where it ends before its header does.
    pub fn read_if_begun(file: &Path) -> Result<Option<Self>, FormatError> {
        let mut input = LineReader::open(file).map_err(|said| FormatError::io(file, said))?;
        let mut number = 1;
        let at = |number| move |said| FormatError::reading(file, number, said);
        if !input.advance().map_err(at(number))? {
            return Ok(None);
        }
        let header = match read_header::<L>(file, input.text()) {
            Err(FormatError::Line { .. }) if input.is_last() => return Ok(None),
            header => header?,
        };
        let mut read = Self { header, lines: Vec::new(), dropped: None };
        while input.advance().map_err(at(number + 1))? {
            number += 1;
            match parse_unique::<L>(input.text()).and_then(|line| line.check().map(|()| line)) {
                Ok(line) => read.lines.push(line),
                Err(_) if input.is_last() => read.dropped = Some(input.text().to_owned()),
                Err(why) => return Err(FormatError::line(file, number, &why)),
            }
        }
        if input.is_cut() {
            read.dropped.get_or_insert_default();
        }
        Ok(Some(read))
    }
}

/// How many whole lines a file has after its header; none of a file that is not there.
///
/// # Errors
/// When it cannot be read.
pub fn count_lines(file: &Path) -> Result<u64, FormatError> {
    if !file.exists() {
        return Ok(0);
    }
    let lines = LineReader::open(file).and_then(|mut input| input.count());
    lines.map(|lines| lines.saturating_sub(1)).map_err(|said| FormatError::io(file, said))
}

fn read_header<L: Line>(file: &Path, text: &str) -> Result<L::Header, FormatError> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
        kind: String,
    }
    let wrong = |why: String| FormatError::line(file, 1, &why);
    let version: Version = parse(text).map_err(wrong)?;
    check_kind(file, &version.kind, L::KIND)?;
    check_version(file, L::KIND, version.format, L::FORMAT)?;
    parse_unique(text).map_err(wrong)
}

/// Writes a file of lines; [`LineWriter::finish`] completes it.
pub struct LineWriter<L: Line> {
    file: PathBuf,
    /// Where the lines are until the file is complete.
    beside: Option<PathBuf>,
    out: PackedWriter,
    lines: PhantomData<fn(L)>,
}

impl<L: Line> LineWriter<L> {
    /// Creates the file and writes the header.
    pub fn create(file: &Path, header: &L::Header) -> Result<Self, FormatError> {
        let beside = (!L::GROWS).then(|| unfinished(file));
        let out = PackedWriter::create(beside.as_deref().unwrap_or(file), file)
            .map_err(|source| FormatError::io(file, source))?;
        let mut writer = Self { file: file.to_owned(), beside, out, lines: PhantomData };
        writer.put(&Head { format: L::FORMAT, kind: L::KIND.to_owned(), header })?;
        Ok(writer)
    }

    /// Goes on with a plain file that has a header already; an incomplete last line is cut off.
    pub fn append(file: &Path) -> Result<Self, FormatError> {
        let open = || -> io::Result<File> {
            let whole = fs::read(file)?.iter().rposition(|byte| *byte == b'\n');
            let out = OpenOptions::new().append(true).open(file)?;
            out.set_len(whole.map_or(0, |last| last as u64 + 1))?;
            Ok(out)
        };
        let out = open().map_err(|source| FormatError::io(file, source))?;
        let out = PackedWriter::Plain(BufWriter::new(out));
        Ok(Self { file: file.to_owned(), beside: None, out, lines: PhantomData })
    }

    /// Writes one line, buffered.
    pub fn write(&mut self, line: &L) -> Result<(), FormatError> {
        self.put(line)
    }

    /// Hands everything so far to the kernel.
    pub fn flush(&mut self) -> Result<(), FormatError> {
        self.out.flush().map_err(|source| FormatError::io(&self.file, source))
    }

    /// Completes the file.
    pub fn finish(self) -> Result<(), FormatError> {
        let Self { file, beside, out, .. } = self;
        let named = out.finish().and_then(|()| match &beside {
            Some(beside) => fs::rename(beside, &file),
            None => Ok(()),
        });
        named.map_err(|source| FormatError::io(&file, source))
    }

    fn put<T: Serialize>(&mut self, value: &T) -> Result<(), FormatError> {
        let io = |said| FormatError::io(&self.file, said);
        serde_json::to_writer(&mut self.out, value).map_err(|error| io(error.into()))?;
        self.out.write_all(b"\n").map_err(io)
    }
}

/// What the names of files end in that are not complete yet.
const UNFINISHED: &str = "part";

/// Where a file is until it is complete.
pub(crate) fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    file.with_file_name(name)
}

/// Whether a file's writer never completed it.
pub(crate) fn is_unfinished(file: &Path) -> bool {
    file.extension() == Some(OsStr::new(UNFINISHED))
}
