//! Text files, packed by their suffix: read line by line, also when they were cut, and written.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::de::IgnoredAny;

use crate::format::goes_on;

/// Reads lines of a file; names ending in `.gz` and `.zst` are unpacked.
pub(crate) struct LineReader {
    input: Text,
    text: String,
    /// Whether the file ended in the middle of its packing.
    cut: bool,
    bytes_read: u64,
}

impl LineReader {
    /// Opens a file.
    pub(crate) fn open(file: &Path) -> io::Result<Self> {
        open(file).map(Self::of)
    }

    /// Reads lines of a text.
    pub(crate) fn of(input: Text) -> Self {
        Self { input, text: String::new(), cut: false, bytes_read: 0 }
    }

    /// Goes to the next line; false at the end, also where the packing was cut.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut input = self.input.by_ref().take(MAX_LINE_BYTES);
        let read = input.read_until(b'\n', &mut bytes);
        let is_at_limit = input.limit() == 0;
        if let Err(error) = read {
            self.end_packing(error, &bytes)?;
        }
        if is_at_limit && bytes.last() != Some(&b'\n') {
            let why = format!("it is longer than {} MiB", MAX_LINE_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, TooLong(why)));
        }
        self.bytes_read += bytes.len() as u64;
        self.text = text_of(bytes)?;
        Ok(!self.text.is_empty())
    }

    /// How many bytes of text the lines had so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// What it means that unpacking failed after `rest`: a packing that ends too early was cut, but
    /// only if what it held ends as a cut line does. Anything else is damage.
    fn end_packing(&mut self, error: io::Error, rest: &[u8]) -> io::Result<()> {
        let is_cut = serde_json::from_slice::<IgnoredAny>(rest).is_ok() || goes_on(rest);
        match Damage::of(error) {
            Damage::Cut(_) if is_cut => {
                self.cut = true;
                Ok(())
            }
            Damage::Cut(error) => Err(damaged(&error)),
            Damage::Other(error) => Err(error),
        }
    }

    /// How many lines have their end, from here to the file's end; an incomplete last one becomes
    /// the line.
    pub(crate) fn count(&mut self) -> io::Result<u64> {
        let mut whole = 0;
        let mut last = Vec::new();
        loop {
            let chunk = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.end_packing(error, &last)?;
                    break;
                }
            };
            whole += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
            let rest = chunk.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            if rest > 0 {
                last.clear();
            }
            // Nobody reads so long a line, nor is it whole.
            if last.len() as u64 <= MAX_LINE_BYTES {
                last.extend_from_slice(&chunk[rest..]);
            }
            let read = chunk.len();
            self.input.consume(read);
        }
        self.text = text_of(last)?;
        Ok(whole)
    }

    /// The line, with its end.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the line lacks its end: it is the last one, and its writer may have been killed.
    pub(crate) fn is_last(&self) -> bool {
        !self.text.ends_with('\n')
    }

    /// Whether the file ended in the middle of its packing.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }
}

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Why a line is not read to its end.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TooLong(String);

const BUFFER_BYTES: usize = 1 << 18;

/// What is read, unpacked.
pub(crate) type Text = Box<dyn BufRead + Send>;

/// What a file holds; names ending in `.gz` and `.zst` are unpacked.
pub(crate) fn open(file: &Path) -> io::Result<Text> {
    Packing::named(file).unpack(File::open(file)?)
}

/// All that a file holds, unpacked.
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open(file)?.read_to_end(&mut bytes);
    read.map_err(|error| match Damage::of(error) {
        Damage::Cut(error) => damaged(&error),
        Damage::Other(error) => error,
    })?;
    Ok(bytes)
}

/// A text as a file of a name holds it.
pub(crate) fn pack(named: &Path, text: Vec<u8>) -> io::Result<Vec<u8>> {
    match Packing::named(named) {
        Packing::None => Ok(text),
        Packing::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(&text)?;
            out.finish()
        }
        Packing::Zstd => zstd::encode_all(&*text, PackedWriter::ZSTD_LEVEL),
    }
}

/// Whether a file's name says that it is packed.
pub(crate) fn is_packed(file: &Path) -> bool {
    !matches!(Packing::named(file), Packing::None)
}

/// How bytes are packed.
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    /// What a file's name says.
    fn named(file: &Path) -> Self {
        match file.extension().and_then(|suffix| suffix.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// What packed bytes hold.
    pub(crate) fn unpack(self, input: impl Read + Send + 'static) -> io::Result<Text> {
        let packed = Arc::new(AtomicU64::new(0));
        let counted = Counted { input, read: Arc::clone(&packed) };
        let unpacked: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(Bounded::of(flate2::read::MultiGzDecoder::new(counted), packed)),
            Self::Zstd => Box::new(Bounded::of(zstd::Decoder::new(counted)?, packed)),
            Self::None => Box::new(counted.input),
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked)))
    }
}

/// Counts what is read.
struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What is unpacked, as far as it can be a history or a document: a few bytes may unpack to more
/// than any memory holds.
struct Bounded<R> {
    input: R,
    packed: Arc<AtomicU64>,
    unpacked: u64,
}

impl<R> Bounded<R> {
    /// JSON and EDN are packed to a tenth, or a hundredth where they say the same all the time.
    const MOST_TIMES: u64 = 250;
    /// So much may any file unpack to.
    const ALWAYS_BYTES: u64 = 8 << 20;

    fn of(input: R, packed: Arc<AtomicU64>) -> Self {
        Self { input, packed, unpacked: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.unpacked += read as u64;
        let packed = self.packed.load(Ordering::Relaxed);
        if self.unpacked > Self::ALWAYS_BYTES + Self::MOST_TIMES.saturating_mul(packed) {
            let why = format!("it unpacks to more than {} times its size", Self::MOST_TIMES);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}

/// What it means that unpacking failed.
pub(crate) enum Damage {
    /// The packing ends too early.
    Cut(io::Error),
    /// The system failed, or the packing is damaged.
    Other(io::Error),
}

impl Damage {
    pub(crate) fn of(error: io::Error) -> Self {
        match error.kind() {
            _ if error.raw_os_error().is_some() => Self::Other(error),
            io::ErrorKind::UnexpectedEof => Self::Cut(error),
            // What a file that grows says: it has no packing.
            io::ErrorKind::StaleNetworkFileHandle => Self::Other(error),
            _ => Self::Other(damaged(&error)),
        }
    }
}

/// The error of a packing that is none.
fn damaged(error: &io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("its packing is damaged: {error}"))
}

/// A line as text. A last one that was cut within a character keeps what is whole, and a sign for
/// the rest, with which it parses as nothing.
fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    let whole = bytes.last() == Some(&b'\n');
    String::from_utf8(bytes).or_else(|error| match whole {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())),
        false => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Ok(String::from_utf8_lossy(valid).into_owned() + "\u{FFFD}")
        }
    })
}

/// Writes a file, packed by its suffix.
pub(crate) enum PackedWriter {
    Plain(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<File>),
    Zstd(zstd::Encoder<'static, File>),
}

impl PackedWriter {
    const ZSTD_LEVEL: i32 = 1;

    /// Creates a file that is packed as `named` says.
    pub(crate) fn create(file: &Path, named: &Path) -> io::Result<Self> {
        let out = File::create(file)?;
        Ok(match Packing::named(named) {
            Packing::Gzip => {
                Self::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::fast()))
            }
            Packing::Zstd => {
                let mut out = zstd::Encoder::new(out, Self::ZSTD_LEVEL)?;
                out.include_checksum(true)?;
                Self::Zstd(out)
            }
            Packing::None => Self::plain(out),
        })
    }

    /// Writes into a file that is open, unpacked.
    pub(crate) fn plain(out: File) -> Self {
        Self::Plain(BufWriter::new(out))
    }

    /// Writes what is left, and the end of the packing.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut out) => out.flush(),
            Self::Gzip(out) => out.finish().map(drop),
            Self::Zstd(out) => out.finish().map(drop),
        }
    }

    fn out(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out,
            Self::Zstd(out) => out,
        }
    }
}

impl Write for PackedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush()
    }
}
