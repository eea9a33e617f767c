//! The commands that a store executes, and what each gives.

use bytes::Bytes;
use thiserror::Error;

use crate::disk::{DiskError, Volume};

/// A log that is open or being opened. The broker chooses the number and never uses it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId(pub u64);

/// A log's settings, named as in Kafka.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// `segment.bytes`: a segment is closed before it grows larger.
    pub segment_bytes: u64,
    /// `segment.ms`: a segment is closed when its records span more.
    pub segment_ms: i64,
    /// `segment.index.bytes`: a segment is closed when an index is full.
    pub segment_index_bytes: u64,
    /// `index.interval.bytes`: at least this far apart are two index entries.
    pub index_interval_bytes: u64,
    /// `flush.messages`: records after which the log is synced by itself.
    pub flush_messages: i64,
    /// `flush.ms`: time after which records are synced by themselves.
    pub flush_ms: i64,
}

impl Default for LogConfig {
    /// Kafka's defaults.
    fn default() -> LogConfig {
        LogConfig {
            segment_bytes: 1 << 30,
            segment_ms: 7 * 24 * 60 * 60 * 1000,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
        }
    }
}

/// What the store is asked to do.
#[derive(Clone, Debug)]
pub enum Command {
    /// The first command: finds the logs, and whether the last stop was clean (which makes opening
    /// them skip the check of their content). Gives [`Done::Found`].
    Find,
    /// Opens a log; creates it if it does not exist; repairs it after a crash. Gives
    /// [`Done::Opened`].
    Open {
        /// Its number from now on.
        log: LogId,
        /// Its directory: topic name, `-`, partition index.
        dir: String,
        /// The topic's id; none for the metadata log.
        topic_id: Option<u128>,
        /// Its settings.
        config: LogConfig,
    },
    /// Appends batches that have their offsets and epochs. Gives [`Done::Appended`].
    Append {
        /// Where.
        log: LogId,
        /// One or more whole batches; the first must begin at the log end offset or after.
        batches: Bytes,
        /// True when the completion must wait until the batches are durable (rule 70).
        sync: bool,
    },
    /// Reads whole batches, from the one that holds `from`. Gives [`Done::Records`].
    Read {
        /// Where.
        log: LogId,
        /// First offset wanted, between log start and `upto`.
        from: i64,
        /// No batch that begins here or later: high watermark, last stable or log end offset.
        upto: i64,
        /// The most bytes wanted.
        max_bytes: usize,
        /// Give the first batch though it alone is larger than `max_bytes`.
        at_least_one: bool,
    },
    /// Looks an offset up by timestamp. Gives [`Done::TimedOffset`].
    OffsetForTime {
        /// Where.
        log: LogId,
        /// Which timestamp.
        query: TimeQuery,
        /// Only records before this offset count.
        upto: i64,
    },
    /// Records that an epoch begins, though it may never get a record (rule 5). Gives
    /// [`Done::EpochAssigned`].
    AssignEpoch {
        /// Where.
        log: LogId,
        /// The leader epoch.
        epoch: i32,
        /// Where it begins: the log end offset.
        start_offset: i64,
    },
    /// Removes everything from `to` on; nothing when `to` is the end or after. Gives
    /// [`Done::Truncated`].
    Truncate {
        /// Where.
        log: LogId,
        /// The new log end offset, if it is smaller.
        to: i64,
    },
    /// Removes everything and begins anew. Gives [`Done::Truncated`].
    TruncateFully {
        /// Where.
        log: LogId,
        /// The new log start and log end offset.
        start: i64,
    },
    /// Changes settings. Gives [`Done::Configured`].
    Configure {
        /// Whose.
        log: LogId,
        /// All of them.
        config: LogConfig,
    },
    /// Makes everything appended so far durable. Gives [`Done::Synced`].
    Sync {
        /// Which.
        log: LogId,
    },
    /// Removes a log and its files. Gives [`Done::Deleted`].
    Delete {
        /// Which.
        log: LogId,
    },
    /// Renames the directory of a log that is not open and belongs to no partition any more: no log
    /// of its name meets it, and an operator still has it. Gives [`Done::SetAside`].
    SetAside {
        /// Its directory.
        dir: String,
        /// Any number that was not used for this before: it is part of the new name.
        id: u128,
    },
    /// Closes a log and keeps its files. Gives [`Done::Closed`].
    Close {
        /// Which.
        log: LogId,
    },
    /// Writes the checkpoints of recovery points, log starts and high watermarks. Gives
    /// [`Done::Checkpointed`].
    Checkpoint {
        /// High watermarks by log; a log that is not named keeps its last one.
        high_watermarks: Vec<(LogId, i64)>,
    },
    /// The last command: makes all durable, closes all, leaves the mark of a clean stop. Gives
    /// [`Done::Stopped`].
    CleanShutdown {
        /// As in [`Command::Checkpoint`].
        high_watermarks: Vec<(LogId, i64)>,
        /// The broker epoch that the next incarnation proves its clean stop with (rule 31).
        broker_epoch: Option<i64>,
    },
    /// Replaces a small file, durably and as a whole. Gives [`Done::FileWritten`].
    WriteFile {
        /// Within the log directory.
        path: String,
        /// The new content.
        content: Bytes,
    },
    /// Reads a small file. Gives [`Done::File`].
    ReadFile {
        /// Within the log directory.
        path: String,
    },
    /// Bytes on disk by log, and the volume's. Gives [`Done::Sizes`].
    Sizes,
}

/// Which record's offset is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeQuery {
    /// The first record whose timestamp (Unix milliseconds) is this or later.
    AtOrAfter(i64),
    /// The first record with the largest timestamp.
    Largest,
}

/// What a command gave.
pub type Completion = Result<Done, StoreError>;

/// What a command gave when it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// What the log directory holds.
    Found {
        /// The logs, by directory.
        logs: Vec<FoundLog>,
        /// True after a clean stop.
        clean: bool,
        /// The broker epoch of the clean stop, when it was noted.
        broker_epoch: Option<i64>,
    },
    /// The log can be used.
    Opened(Opened),
    /// The batches are in the log.
    Appended {
        /// The new log end offset.
        log_end: i64,
        /// The first offset of the segment that holds the last of the batches.
        segment_start: i64,
    },
    /// Whole batches in order; none when `from` is `upto`, or the first does not fit.
    Records {
        /// The batches.
        batches: Bytes,
    },
    /// The record that was looked up, if there is one.
    TimedOffset(Option<TimedOffset>),
    /// The epoch is in the epoch checkpoint.
    EpochAssigned,
    /// The log is shorter, and all that is derived from it was rebuilt (rule 15).
    Truncated(LogState),
    /// The settings hold from now on.
    Configured,
    /// Everything before the recovery point is durable.
    Synced {
        /// An offset.
        recovery_point: i64,
    },
    /// The log is gone.
    Deleted,
    /// The directory has another name, and the store knows nothing of it any more.
    SetAside {
        /// The new name.
        dir: String,
    },
    /// The log is closed.
    Closed,
    /// The checkpoints are written.
    Checkpointed,
    /// All is durable and closed.
    Stopped,
    /// The file has its new content.
    FileWritten,
    /// The file's content; none if there is no such file.
    File(Option<Bytes>),
    /// Space used.
    Sizes {
        /// Bytes of each open log.
        logs: Vec<(LogId, u64)>,
        /// The volume's size, where it is known.
        volume: Option<Volume>,
    },
}

/// A log directory's partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLog {
    /// Its directory.
    pub dir: String,
    /// What its `partition.metadata` says.
    pub topic_id: Option<u128>,
}

/// A log that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// What it holds.
    pub state: LogState,
    /// The high watermark at the last checkpoint, within the log; the log start if there is none.
    pub high_watermark: i64,
    /// Bytes that recovery cut off, because they were no valid batches.
    pub cut_bytes: u64,
    /// Why recovery cut them off.
    pub cut_reason: Option<String>,
}

/// What the core must know of a log that it has not followed from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// The first offset that is there.
    pub log_start: i64,
    /// The offset after the last record.
    pub log_end: i64,
    /// The epoch cache (rule 5), oldest first.
    pub epochs: Vec<EpochStart>,
    /// Producer state (rule 45), by producer id.
    pub producers: Vec<ProducerEntry>,
}

/// Where a leader epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochStart {
    /// The leader epoch.
    pub epoch: i32,
    /// Its first offset.
    pub start_offset: i64,
}

/// One producer's state on one partition (rules 41 to 44).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerEntry {
    /// The producer.
    pub producer_id: i64,
    /// Its current epoch.
    pub producer_epoch: i16,
    /// Its last batches in this epoch, oldest first: up to five, one when a snapshot is all that
    /// is left of them.
    pub batches: Vec<ProducerBatch>,
    /// When it was last heard of, in Unix milliseconds of its records.
    pub last_timestamp: i64,
    /// Epoch of the transaction coordinator that wrote its last marker, or -1.
    pub coordinator_epoch: i32,
    /// First offset of its open transaction.
    pub open_transaction: Option<i64>,
}

/// One remembered batch of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerBatch {
    /// Sequence of its first record.
    pub base_sequence: i32,
    /// Sequence of its last record.
    pub last_sequence: i32,
    /// Offset of its first record.
    pub base_offset: i64,
    /// Offset of its last record.
    pub last_offset: i64,
    /// Its largest timestamp, in Unix milliseconds.
    pub timestamp: i64,
}

/// The record that a look-up by timestamp found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOffset {
    /// Its timestamp, in Unix milliseconds.
    pub timestamp: i64,
    /// Its offset.
    pub offset: i64,
    /// The leader epoch of its batch.
    pub leader_epoch: i32,
}

/// Why a command failed. After [`StoreError::Disk`] nothing that the directory holds can be relied
/// on: the broker takes it offline (KAFKA_STORAGE_ERROR).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoreError {
    /// The disk failed or is full.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// No such log is open.
    #[error("log {} is not open", .0.0)]
    Unknown(LogId),
    /// The directory name is not `TOPIC-PARTITION`.
    #[error("{0:?} is no name for a partition's directory")]
    BadName(String),
    /// The directory belongs to another incarnation of the topic (rule 76).
    #[error("{dir} belongs to topic id {found:032x}, not {wanted:032x}")]
    TopicId {
        /// The directory.
        dir: String,
        /// What its `partition.metadata` says.
        found: u128,
        /// What was asked for.
        wanted: u128,
    },
    /// The batches do not continue the log: broken bytes, offsets going back (rules 1 and 13), or
    /// epochs going back (rule 3).
    #[error("the batches do not continue the log: {0}")]
    BadAppend(String),
    /// The offset is not in the log (rule 7).
    #[error("offset {offset} is not between {log_start} and {log_end}")]
    OutOfRange {
        /// What was asked for.
        offset: i64,
        /// The log's first offset.
        log_start: i64,
        /// The log's end.
        log_end: i64,
    },
    /// A file that must be right is not, and cannot be rebuilt.
    #[error("{path}: {reason}")]
    Corrupt {
        /// Within the log directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
