//! The binary form of a history: blocks of columns, packed, each with what tells how much it holds.
//!
//! A file begins with a line that names it and its version. A block is a head of 24 bytes (bytes
//! packed, bytes unpacked, events, a zero, all u32, then the line of its first event as u64; little
//! endian) and a zstd frame with a checksum. A head of zeros ends the history: a file without it
//! was cut.

use std::{
    io::{self, BufRead, Read, Write},
    path::PathBuf,
};

use super::{Columns, stored::Stored};
use crate::{
    event::Event,
    format::{FormatError, check_version},
    packed::Text,
    reader::HISTORY_FORMAT,
};

/// What a file begins with, before its version.
pub(crate) const MAGIC: &str = "highwater history, binary, format ";
/// The longest first line.
const MAGIC_BYTES: u64 = 80;
const HEAD_BYTES: usize = 24;
/// The most that a block may hold, packed or not: a few bytes unpack to so much, and as columns a
/// byte may take thirty.
const BLOCK_BYTES: u32 = 4 << 20;
/// A block is packed once it has so many events, or reads and sends.
const EVENTS: usize = 4 << 10;
const RECORDS: usize = 32 << 10;
/// No block has more events, whoever wrote it.
const MOST_EVENTS: u32 = 1 << 18;
const ZSTD_LEVEL: i32 = 1;

/// A block as it stands in the file.
#[derive(Debug)]
pub(crate) struct PackedBlock {
    packed: Vec<u8>,
    unpacked_bytes: usize,
    events: u64,
    first_line: u64,
    /// Where it begins in the file, in bytes.
    from: u64,
}

impl PackedBlock {
    /// The line of its first event.
    pub(crate) fn first_line(&self) -> u64 {
        self.first_line
    }

    /// How many bytes it holds.
    pub(crate) fn unpacked_bytes(&self) -> usize {
        self.unpacked_bytes
    }

    /// What it holds, into columns that are empty. Of a damaged block nothing is left in them.
    ///
    /// # Errors
    /// What does not fit, as a sentence.
    pub(crate) fn unpack(&self, columns: &mut Columns) -> Result<(), String> {
        let unpacked = self.fill(columns);
        if unpacked.is_err() {
            columns.clear();
        }
        unpacked
    }

    fn fill(&self, columns: &mut Columns) -> Result<(), String> {
        let damaged = |why: String| format!("the block at byte {} is damaged: {why}", self.from);
        let bytes = zstd::bulk::decompress(&self.packed, self.unpacked_bytes)
            .map_err(|said| damaged(said.to_string()))?;
        let stored: Stored =
            postcard::from_bytes(&bytes).map_err(|error| damaged(error.to_string()))?;
        let others = || damaged("it holds other events than its head says".to_owned());
        if stored.len() as u64 != self.events {
            return Err(others());
        }
        stored.fill(columns).map_err(damaged)?;
        let first = columns.rows().next().map_or(self.first_line, |row| row.head.line);
        if first != self.first_line { Err(others()) } else { Ok(()) }
    }
}

/// Reads blocks in order.
pub(crate) struct BinaryReader {
    file: PathBuf,
    input: Text,
    /// Bytes read so far.
    at: u64,
    /// The first line of the last block.
    last_line: u64,
    /// The line after its last, where each event has a line of its own.
    next_line: u64,
    dropped: Option<u64>,
    is_cut: bool,
    ended: bool,
    /// What was unpacked and not yet taken.
    open: std::vec::IntoIter<(u64, Event)>,
    line: u64,
}

impl BinaryReader {
    /// Opens a history of which events may be known to be missing where it ends.
    pub(crate) fn of(file: PathBuf, is_cut: bool, mut input: Text) -> Result<Self, FormatError> {
        let mut first = Vec::new();
        let read = input.by_ref().take(MAGIC_BYTES).read_until(b'\n', &mut first);
        read.map_err(|said| FormatError::io(&file, said))?;
        let version = String::from_utf8(first.clone()).ok();
        let version =
            version.as_deref().and_then(|line| line.strip_prefix(MAGIC)?.strip_suffix('\n'));
        let version = version.and_then(|version| version.parse().ok()).ok_or_else(|| {
            let why = "it does not begin as a binary history does; is it one, and whole?";
            FormatError::document(&file, why)
        })?;
        check_version(&file, "history", version, HISTORY_FORMAT)?;
        let at = first.len() as u64;
        let (open, line) = (Vec::new().into_iter(), 0);
        Ok(Self {
            file,
            input,
            at,
            last_line: 1,
            next_line: 1,
            dropped: None,
            is_cut,
            ended: false,
            open,
            line,
        })
    }

    /// The line that the last event stood on, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The line from which on the history is missing.
    pub(crate) fn dropped_line(&self) -> Option<u64> {
        self.dropped
    }

    /// How many events there are from here on.
    pub(crate) fn count(mut self) -> Result<u64, FormatError> {
        let mut events = self.open.len() as u64;
        while let Some(block) = self.next_block()? {
            events += block.events;
        }
        Ok(events)
    }

    /// The next block; none at the end, also where the file was cut.
    pub(crate) fn next_block(&mut self) -> Result<Option<PackedBlock>, FormatError> {
        if self.ended {
            return Ok(None);
        }
        let from = self.at;
        let Some(head) = self.take(HEAD_BYTES)? else { return Ok(self.end_cut()) };
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[at + byte]));
        let (packed, unpacked, events) = (number(0), number(4), number(8));
        let first_line = u64::from(number(16)) | u64::from(number(20)) << 32;
        if head.iter().all(|byte| *byte == 0) {
            return self.end();
        }
        let fits = |bytes| (1..=BLOCK_BYTES).contains(&bytes);
        if !fits(packed)
            || !fits(unpacked)
            || !(1..=MOST_EVENTS).contains(&events)
            || number(12) != 0
            || first_line < self.last_line
        {
            let why = format!("the block at byte {from} is damaged: its head cannot be");
            return Err(FormatError::document(&self.file, why));
        }
        let Some(packed) = self.take(packed as usize)? else { return Ok(self.end_cut()) };
        let events = u64::from(events);
        self.last_line = first_line;
        self.next_line = first_line.saturating_add(events);
        let unpacked_bytes = unpacked as usize;
        Ok(Some(PackedBlock { packed, unpacked_bytes, events, first_line, from }))
    }

    /// The next event.
    pub(crate) fn read_next(&mut self) -> Result<Option<Event>, FormatError> {
        loop {
            if let Some((line, event)) = self.open.next() {
                self.line = line;
                return Ok(Some(event));
            }
            let Some(block) = self.next_block()? else { return Ok(None) };
            let mut columns = Columns::default();
            block.unpack(&mut columns).map_err(|why| self.wrong(why))?;
            let events = columns.rows().map(|row| (row.head.line, columns.event(&row)));
            self.open = events.collect::<Vec<_>>().into_iter();
        }
    }

    /// What is wrong with a block.
    pub(crate) fn wrong(&self, why: String) -> FormatError {
        FormatError::document(&self.file, why)
    }

    fn end(&mut self) -> Result<Option<PackedBlock>, FormatError> {
        self.ended = true;
        if self.is_cut {
            self.dropped = Some(self.next_line);
        }
        match self.input.fill_buf() {
            Ok([]) => Ok(None),
            Ok(_) => Err(self.wrong("more stands behind its end".to_owned())),
            Err(said) => Err(FormatError::io(&self.file, said)),
        }
    }

    fn end_cut(&mut self) -> Option<PackedBlock> {
        self.ended = true;
        self.dropped = Some(self.next_line);
        None
    }

    /// So many bytes; none where the file ends before.
    fn take(&mut self, bytes: usize) -> Result<Option<Vec<u8>>, FormatError> {
        let mut taken = Vec::new();
        let read = self.input.by_ref().take(bytes as u64).read_to_end(&mut taken);
        match read {
            Ok(read) if read == bytes => {}
            Ok(_) => return Ok(None),
            Err(said) if said.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(said) => return Err(FormatError::io(&self.file, said)),
        }
        self.at += bytes as u64;
        Ok(Some(taken))
    }
}

/// Writes blocks.
pub(crate) struct BinaryWriter<W> {
    out: W,
    open: Columns,
}

impl<W: Write> BinaryWriter<W> {
    /// Begins a file.
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "{MAGIC}{HISTORY_FORMAT}")?;
        Ok(Self { out, open: Columns::default() })
    }

    /// Adds an event that stands on a line, counted from 1.
    pub(crate) fn put(&mut self, line: u64, event: Event) -> io::Result<()> {
        self.open.push(line, event);
        if self.open.len() >= EVENTS || self.open.records() >= RECORDS {
            self.pack()?;
        }
        Ok(())
    }

    /// Writes what is left and, unless events are missing behind it, the end.
    pub(crate) fn finish(mut self, is_cut: bool) -> io::Result<W> {
        self.pack()?;
        if !is_cut {
            self.out.write_all(&[0; HEAD_BYTES])?;
        }
        Ok(self.out)
    }

    fn pack(&mut self) -> io::Result<()> {
        let columns = std::mem::take(&mut self.open);
        self.write(&columns)
    }

    /// Writes columns as one block, or as several where they are too large for one.
    fn write(&mut self, columns: &Columns) -> io::Result<()> {
        let Some(first) = columns.rows().next() else { return Ok(()) };
        let bytes = postcard::to_allocvec(&Stored::of(columns)).map_err(io::Error::other)?;
        let mut zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        zstd.include_checksum(true)?;
        let packed = zstd.compress(&bytes)?;
        if [bytes.len(), packed.len()].iter().any(|bytes| *bytes > BLOCK_BYTES as usize) {
            if columns.len() > 1 {
                return halves(columns).iter().try_for_each(|half| self.write(half));
            }
            let why = format!("the event on line {} is too large for it", first.head.line);
            return Err(io::Error::other(why));
        }
        let mut head = Vec::with_capacity(HEAD_BYTES);
        for number in [packed.len(), bytes.len(), columns.len(), 0] {
            let number = u32::try_from(number).map_err(io::Error::other)?;
            head.extend(number.to_le_bytes());
        }
        head.extend(first.head.line.to_le_bytes());
        self.out.write_all(&head)?;
        self.out.write_all(&packed)
    }
}

/// The first and the second half of some events.
fn halves(columns: &Columns) -> [Columns; 2] {
    let mut halves = [Columns::default(), Columns::default()];
    for (nth, row) in columns.rows().enumerate() {
        let half = &mut halves[usize::from(nth >= columns.len() / 2)];
        half.push(row.head.line, columns.event(&row));
    }
    halves
}
