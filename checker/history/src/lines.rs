//! Files of JSON lines whose first line is a header with kind and version.
//!
//! Samples, dumps, the committed metadata log and the heal journal are such files. Names ending in
//! `.gz` and `.zst` are packed. An incomplete last line is dropped and reported, since the writer
//! may have been killed.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::format::{FormatError, check_version, parse};

/// A kind of line: the header's `kind` and `format`.
pub trait Line: Serialize + DeserializeOwned {
    /// The header's `kind`, also the name in messages.
    const KIND: &'static str;
    /// The version that this program reads and writes.
    const FORMAT: u64;
    /// What the header says beside kind and format.
    type Header: Serialize + DeserializeOwned;
}

/// A header that says nothing more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plain {}

#[derive(Serialize, Deserialize)]
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
    /// The text of an incomplete last line that was dropped.
    pub dropped: Option<String>,
}

impl<L: Line> Lines<L> {
    /// Reads a whole file.
    pub fn read(file: &Path) -> Result<Self, FormatError> {
        let mut input = open_packed(file).map_err(|source| FormatError::io(file, source))?;
        let mut text = String::new();
        let header = match next_line(&mut input, &mut text, file)? {
            true => read_header::<L>(file, &text)?,
            false => {
                return Err(FormatError::document(file, "the file is empty, without a header"));
            }
        };
        let mut read = Self { header, lines: Vec::new(), dropped: None };
        for number in 2.. {
            if !next_line(&mut input, &mut text, file)? {
                break;
            }
            match parse(&text) {
                Ok(line) => read.lines.push(line),
                Err(_) if !text.ends_with('\n') => read.dropped = Some(text.clone()),
                Err(why) => {
                    return Err(FormatError::Line { file: file.to_owned(), line: number, why });
                }
            }
        }
        Ok(read)
    }
}

fn read_header<L: Line>(file: &Path, text: &str) -> Result<L::Header, FormatError> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
        kind: String,
    }
    let wrong = |why| FormatError::Line { file: file.to_owned(), line: 1, why };
    let version: Version = parse(text).map_err(wrong)?;
    if version.kind != L::KIND {
        let (found, wanted) = (version.kind, L::KIND);
        return Err(wrong(format!("field `kind`: {found:?}, expected {wanted:?}")));
    }
    check_version(file, L::KIND, version.format, L::FORMAT)?;
    let head: Head<L::Header> = parse(text).map_err(wrong)?;
    Ok(head.header)
}

fn next_line(
    input: &mut impl BufRead,
    text: &mut String,
    file: &Path,
) -> Result<bool, FormatError> {
    text.clear();
    let read = input.read_line(text).map_err(|source| FormatError::io(file, source))?;
    Ok(read > 0)
}

/// Writes a file of lines; [`LineWriter::finish`] completes it.
pub struct LineWriter<L: Line> {
    file: PathBuf,
    out: Box<dyn Write + Send>,
    lines: PhantomData<fn(L)>,
}

impl<L: Line> LineWriter<L> {
    /// Creates the file and writes the header.
    pub fn create(file: &Path, header: &L::Header) -> Result<Self, FormatError> {
        let out = create_packed(file).map_err(|source| FormatError::io(file, source))?;
        let mut writer = Self { file: file.to_owned(), out, lines: PhantomData };
        writer.put(&Head { format: L::FORMAT, kind: L::KIND.to_owned(), header })?;
        Ok(writer)
    }

    /// Goes on with a plain file that has a header already; an incomplete last line is cut off.
    pub fn append(file: &Path) -> Result<Self, FormatError> {
        let open = || -> io::Result<File> {
            let whole = std::fs::read(file)?.iter().rposition(|byte| *byte == b'\n');
            let out = OpenOptions::new().append(true).open(file)?;
            out.set_len(whole.map_or(0, |last| last as u64 + 1))?;
            Ok(out)
        };
        let out = open().map_err(|source| FormatError::io(file, source))?;
        Ok(Self { file: file.to_owned(), out: Box::new(BufWriter::new(out)), lines: PhantomData })
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
    pub fn finish(mut self) -> Result<(), FormatError> {
        self.flush()
    }

    fn put<T: Serialize>(&mut self, value: &T) -> Result<(), FormatError> {
        let io = |source| FormatError::Io { file: self.file.clone(), source };
        serde_json::to_writer(&mut self.out, value).map_err(|error| io(error.into()))?;
        self.out.write_all(b"\n").map_err(io)
    }
}

/// Opens a file for reading, unpacked by its suffix.
pub(crate) fn open_packed(file: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    const BUFFER_BYTES: usize = 1 << 18;
    let input = File::open(file)?;
    let unpacked: Box<dyn Read + Send> = match suffix(file) {
        "gz" => Box::new(flate2::read::MultiGzDecoder::new(input)),
        "zst" => Box::new(zstd::Decoder::new(input)?),
        _ => Box::new(input),
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked)))
}

/// Creates a file for writing, packed by its suffix.
fn create_packed(file: &Path) -> io::Result<Box<dyn Write + Send>> {
    const ZSTD_LEVEL: i32 = 1;
    let out = File::create(file)?;
    Ok(match suffix(file) {
        "gz" => Box::new(flate2::write::GzEncoder::new(out, flate2::Compression::fast())),
        "zst" => Box::new(zstd::Encoder::new(out, ZSTD_LEVEL)?.auto_finish()),
        _ => Box::new(BufWriter::new(out)),
    })
}

fn suffix(file: &Path) -> &str {
    file.extension().and_then(|suffix| suffix.to_str()).unwrap_or("")
}
