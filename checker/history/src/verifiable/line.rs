//! A line of a log, as the tools print it.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use smol_str::SmolStr;

use crate::{
    format::{FormatError, parse},
    packed::LineReader,
    types::{Key, Offset, check_offset},
};

/// What one line says. The clock is that of the machine that the tool ran on.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    /// Milliseconds since 1970.
    pub timestamp: u64,
    #[serde(flatten)]
    pub said: Said,
}

/// The events of both tools, by their names.
#[derive(Debug, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub(super) enum Said {
    StartupComplete,
    ShutdownRequested,
    ShutdownComplete,
    ProducerSendSuccess {
        key: Option<SmolStr>,
        value: Option<SmolStr>,
        topic: SmolStr,
        partition: i32,
        /// -1 where the broker told none.
        offset: Offset,
    },
    ProducerSendError {
        key: Option<SmolStr>,
        value: Option<SmolStr>,
        topic: SmolStr,
        exception: String,
        message: Option<String>,
    },
    /// The producer's summary.
    ToolData {
        sent: u64,
    },
    PartitionsAssigned {
        partitions: Vec<Partition>,
    },
    PartitionsRevoked {
        partitions: Vec<Partition>,
    },
    /// One record; a consumer tells them with --verbose only.
    RecordData {
        value: Option<SmolStr>,
        topic: SmolStr,
        partition: i32,
        offset: Offset,
    },
    /// One poll, behind its records.
    RecordsConsumed {
        partitions: Vec<Consumed>,
    },
    OffsetsCommitted {
        offsets: Vec<Committed>,
        success: bool,
        error: Option<String>,
    },
}

#[derive(Debug, Deserialize)]
pub(super) struct Partition {
    pub topic: SmolStr,
    pub partition: i32,
}

impl Partition {
    pub(super) fn key(&self) -> Key {
        Key::of(&self.topic, self.partition)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Consumed {
    #[serde(flatten)]
    pub partition: Partition,
    pub count: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Committed {
    #[serde(flatten)]
    pub partition: Partition,
    pub offset: Offset,
}

/// Reads a log line by line.
pub(super) struct LogReader<'a> {
    pub file: &'a Path,
    input: LineReader,
    /// The line at hand, counted from 1.
    pub line: u64,
    /// Lines that are no JSON: what else the program printed.
    pub others: u64,
    /// Lines of events that nothing here knows, by name.
    pub unknown: BTreeMap<String, u64>,
    /// Whether it ends within a line or its packing.
    pub is_cut: bool,
}

impl<'a> LogReader<'a> {
    pub(super) fn open(file: &'a Path) -> Result<Self, FormatError> {
        let input = LineReader::open(file).map_err(|said| FormatError::io(file, said))?;
        Ok(Self { file, input, line: 0, others: 0, unknown: BTreeMap::new(), is_cut: false })
    }

    /// The next line that says something.
    pub(super) fn next(&mut self) -> Result<Option<Line>, FormatError> {
        loop {
            let wrong = |said| FormatError::reading(self.file, self.line + 1, said);
            if !self.input.advance().map_err(wrong)? {
                self.is_cut |= self.input.is_cut();
                return Ok(None);
            }
            self.line += 1;
            let text = self.input.text();
            if !text.starts_with('{') {
                self.others += u64::from(!text.trim().is_empty());
                continue;
            }
            match parse(text) {
                Ok(line) => return Ok(Some(line)),
                Err(_) if self.input.is_last() => {
                    self.is_cut = true;
                    return Ok(None);
                }
                Err(why) => match unknown_name(text) {
                    Some(name) => *self.unknown.entry(name).or_default() += 1,
                    None => return Err(self.wrong(&why)),
                },
            }
        }
    }

    /// What is wrong with the line at hand.
    pub(super) fn wrong(&self, why: &str) -> FormatError {
        FormatError::line(self.file, self.line, why)
    }

    /// A key and an offset that a log may have.
    pub(super) fn place(
        &self,
        topic: &str,
        partition: i32,
        offset: Offset,
    ) -> Result<(Key, Offset), FormatError> {
        let offset = check_offset(offset).map_err(|why| self.wrong(&why))?;
        Ok((Key::of(topic, partition), offset))
    }
}

/// The name of an event that neither tool printed when this was written.
fn unknown_name(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    const KNOWN: [&str; 11] = [
        "startup_complete",
        "shutdown_requested",
        "shutdown_complete",
        "producer_send_success",
        "producer_send_error",
        "tool_data",
        "partitions_assigned",
        "partitions_revoked",
        "record_data",
        "records_consumed",
        "offsets_committed",
    ];
    let Named { name } = serde_json::from_str(text).ok()?;
    (!KNOWN.contains(&name.as_str())).then_some(name)
}
