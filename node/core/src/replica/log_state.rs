//! The offsets, epochs and producers of one replica's log.

use std::collections::VecDeque;

use super::batch::BatchMeta;
use super::epoch_cache::EpochCache;
use super::producers::Producers;
use crate::rule::read_end::Segment;
use crate::types::Offset;

/// How many batches keep their size for counting what a fetch could read.
const SIZED_BATCHES: usize = 128;

/// More bytes than any fetch takes: what is readable when it begins before the sized batches.
const UNSIZED_BYTES: u64 = u32::MAX as u64;

/// What the disk says of a log when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedLog {
    /// The first offset.
    pub log_start: Offset,
    /// The offset after the last record.
    pub log_end: Offset,
    /// The high watermark last checkpointed.
    pub high_watermark: Offset,
    /// The leader epochs.
    pub epochs: EpochCache,
    /// The producers.
    pub producers: Producers,
}

/// The offsets that readers are told and bounded by, each not above the next (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// The first offset.
    pub log_start: Offset,
    /// The last stable offset; the high watermark while there are no transactions (rule 48).
    pub last_stable: Offset,
    /// The high watermark.
    pub high_watermark: Offset,
    /// The end of what the disk has confirmed: the LEO that others may see.
    pub log_end: Offset,
}

/// The state of a replica's log.
#[derive(Clone, Debug)]
pub(super) struct LogState {
    pub log_start: Offset,
    pub high_watermark: Offset,
    /// The end of what the disk has confirmed.
    pub written: Offset,
    /// The next offset to give out.
    pub appended: Offset,
    pub epochs: EpochCache,
    pub producers: Producers,
    /// The newest batches.
    sizes: VecDeque<SizedBatch>,
    /// Where segments after the first begin, from the one that holds the high watermark on.
    segments: VecDeque<Offset>,
}

/// Where a batch lies, and its bytes.
#[derive(Clone, Copy, Debug)]
struct SizedBatch {
    base: Offset,
    end: Offset,
    bytes: u32,
}

impl LogState {
    pub fn new(loaded: LoadedLog) -> LogState {
        let LoadedLog { log_start, log_end, high_watermark, epochs, producers } = loaded;
        LogState {
            log_start,
            high_watermark,
            written: log_end,
            appended: log_end,
            epochs,
            producers,
            sizes: VecDeque::new(),
            segments: VecDeque::new(),
        }
    }

    /// The newest batch is in the segment that begins at `start`.
    pub fn in_segment(&mut self, start: Offset) {
        let newest = self.segments.back().copied().unwrap_or(self.log_start);
        if newest < start {
            self.segments.push_back(start);
        }
        while self.segments.get(1).is_some_and(|second| *second <= self.high_watermark) {
            self.segments.pop_front();
        }
    }

    /// The segment of this offset; `None` for the first one of the log, and for those that were
    /// written before the log was opened.
    pub fn segment_of(&self, offset: Offset) -> Option<Segment> {
        let after = self.segments.partition_point(|start| *start <= offset);
        let start = *self.segments.get(after.checked_sub(1)?)?;
        let end = self.segments.get(after).copied().unwrap_or(self.written);
        Some(Segment { start, end })
    }

    /// Takes in a batch that goes to the end of the log.
    pub fn append(&mut self, batch: &BatchMeta) {
        debug_assert!(batch.base_offset >= self.appended, "a batch starts at the log end or after");
        self.epochs.assign(batch.leader_epoch, batch.base_offset);
        self.producers.appended(batch);
        self.appended = batch.next_offset();
        if self.sizes.len() == SIZED_BATCHES {
            self.sizes.pop_front();
        }
        let (base, end, bytes) = (batch.base_offset, batch.next_offset(), batch.size_bytes);
        self.sizes.push_back(SizedBatch { base, end, bytes });
    }

    /// Ends the log at `end`: offsets, epochs and producers together (rules 5, 15).
    pub fn cut(&mut self, end: Offset, producers: Producers) {
        debug_assert!(end <= self.appended, "a cut never lengthens the log");
        self.epochs.truncate(end);
        self.producers = producers;
        self.high_watermark = self.high_watermark.min(end);
        self.written = end;
        self.appended = end;
        self.sizes.clear();
        self.segments.retain(|start| *start < end);
    }

    /// An empty log that starts at `start`; all offsets move together (rule 6).
    pub fn restart_at(&mut self, start: Offset) {
        let (log_start, log_end, high_watermark) = (start, start, start);
        *self =
            LogState::new(LoadedLog { log_start, log_end, high_watermark, ..LoadedLog::default() });
    }

    pub fn bounds(&self) -> LogBounds {
        LogBounds {
            log_start: self.log_start,
            last_stable: self.high_watermark,
            high_watermark: self.high_watermark,
            log_end: self.written,
        }
    }

    /// Bytes of the batches from the one that holds `from` up to `upto`; a large number when some
    /// of them are too old to be known.
    pub fn bytes_between(&self, from: Offset, upto: Offset) -> u64 {
        if from >= upto {
            return 0;
        }
        if self.sizes.front().is_none_or(|oldest| from < oldest.base) {
            return UNSIZED_BYTES;
        }
        let newest_first = self.sizes.iter().rev();
        let inside = newest_first.skip_while(|b| b.base >= upto).take_while(|b| b.end > from);
        inside.map(|b| u64::from(b.bytes)).sum()
    }
}
