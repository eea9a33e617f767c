//! The log of a VerifiableProducer: how each send ended.
//!
//! A line is printed when the answer came. When the send began is not told, nor the partition of
//! one that got none; nor anything of sends in flight when the producer was killed.

use std::path::PathBuf;

use smol_str::SmolStr;

use super::{
    line::{LogReader, Said},
    text::Text,
};
use crate::{
    format::FormatError,
    types::{Key, Offset},
};

/// What one log tells.
#[derive(Debug)]
pub(super) struct Producer {
    pub file: PathBuf,
    /// When its first line was printed; every send began later.
    pub started: u64,
    pub sends: Vec<Sent>,
    /// Whether every send that began ended, and stands here.
    pub is_whole: bool,
    /// Whether none of its acknowledgements has an offset: acks=0.
    pub tells_no_offsets: bool,
}

/// One send.
#[derive(Debug)]
pub(super) struct Sent {
    pub line: u64,
    pub at: u64,
    pub text: Text,
    pub topic: SmolStr,
    pub record_key: Option<SmolStr>,
    pub ended: Ended,
}

/// How it ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Acknowledged; with acks=0 no offset is told.
    Acknowledged(Key, Option<Offset>),
    Error(SendError),
    /// A consumer was given the record, and the log says nothing of it.
    Untold,
}

#[derive(Debug)]
pub(super) struct SendError {
    /// The exception's name.
    pub code: String,
    pub message: Option<String>,
    /// Whether nothing of it had left: it did not happen and never will.
    pub is_definite: bool,
}

/// What gathers as a log is read.
#[derive(Debug, Default)]
pub(super) struct ProducerLog {
    sends: Vec<Sent>,
    /// How many sends it says that it began.
    began: Option<u64>,
    is_closed: bool,
}

impl ProducerLog {
    /// Takes what only a producer says; gives back anything else.
    pub(super) fn take(
        &mut self,
        log: &LogReader<'_>,
        at: u64,
        said: Said,
    ) -> Result<Option<Said>, FormatError> {
        match said {
            Said::ProducerSendSuccess { key, value, topic, partition, offset } => {
                let ended = match offset {
                    -1 => Ended::Acknowledged(Key::of(&topic, partition), None),
                    _ => {
                        let (key, offset) = log.place(&topic, partition, offset)?;
                        Ended::Acknowledged(key, Some(offset))
                    }
                };
                self.push(log, at, (topic, key, value), ended)?;
            }
            Said::ProducerSendError { key, value, topic, exception, message } => {
                let ended = Ended::Error(SendError::of(&exception, message));
                self.push(log, at, (topic, key, value), ended)?;
            }
            Said::ToolData { sent } => self.began = Some(sent),
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    /// The tool waits for every answer before it says that it ended.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    fn push(
        &mut self,
        log: &LogReader<'_>,
        at: u64,
        (topic, record_key, value): (SmolStr, Option<SmolStr>, Option<SmolStr>),
        ended: Ended,
    ) -> Result<(), FormatError> {
        let value = value.unwrap_or_default();
        let text = Text::of(&value).ok_or_else(|| {
            log.wrong(&format!("field `value`: {value:?}, expected a number such as 17 or 2.17"))
        })?;
        self.sends.push(Sent { line: log.line, at, text, topic, record_key, ended });
        Ok(())
    }

    /// Whether it said anything.
    pub(super) fn is_empty(&self) -> bool {
        self.sends.is_empty() && self.began.is_none()
    }

    pub(super) fn finish(self, log: &LogReader<'_>, started: u64) -> Producer {
        let Self { sends, began, is_closed } = self;
        let told_all = began.is_none_or(|began| began == sends.len() as u64);
        let is_whole = is_closed && told_all && !log.is_cut;
        let mut offsets = sends.iter().filter_map(|sent| match &sent.ended {
            Ended::Acknowledged(_, offset) => Some(*offset),
            Ended::Error(_) | Ended::Untold => None,
        });
        let tells_no_offsets = offsets.next() == Some(None) && offsets.all(|at| at.is_none());
        let file = log.file.to_owned();
        Producer { file, started, sends, is_whole, tells_no_offsets }
    }
}

impl SendError {
    fn of(exception: &str, message: Option<String>) -> Self {
        let code = exception.rsplit(['.', ' ']).next().unwrap_or(exception).to_owned();
        let is_definite = never_left(&code, message.as_deref().unwrap_or(""));
        Self { code, message, is_definite }
    }
}

/// Whether the client gave up before it had put the record into a request: what it says then is its
/// own. What a broker says proves nothing, for the log does not tell whether an earlier attempt had
/// gone unanswered.
fn never_left(code: &str, message: &str) -> bool {
    match code {
        "TimeoutException" => message.contains("not present in metadata after"),
        "BufferExhaustedException" => true,
        "RecordTooLargeException" => {
            message.starts_with("The message is ") && message.contains(" bytes when serialized")
        }
        "IllegalStateException" => message.contains("after producer has been closed"),
        "KafkaException" => message.starts_with("Producer closed while send in progress"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_never_left_is_definite() {
        for (exception, message, is_definite) in [
            (
                "common.errors.TimeoutException",
                "Topic t not present in metadata after 60 ms.",
                true,
            ),
            ("common.errors.TimeoutException", "Expiring 1 record(s) for t-0:120 ms", false),
            ("common.errors.NetworkException", "Disconnected from node 1", false),
            ("common.errors.NotEnoughReplicasAfterAppendException", "", false),
            ("common.errors.NotEnoughReplicasException", "", false),
            ("clients.producer.BufferExhaustedException", "Failed to allocate 1 bytes", true),
            (
                "common.errors.RecordTooLargeException",
                "The message is 9 bytes when serialized which is larger than 8",
                true,
            ),
            ("common.errors.RecordTooLargeException", "The request included a message", false),
        ] {
            let exception = format!("class org.apache.kafka.{exception}");
            let error = SendError::of(&exception, Some(message.to_owned()));
            assert_eq!(error.is_definite, is_definite, "{exception}: {message}");
            assert!(!error.code.contains('.'), "{}", error.code);
        }
    }
}
