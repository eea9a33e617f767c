//! The records of a batch, with headers in order and duplicate keys kept.

use std::ops::Range;

use bytes::Bytes;

use super::{BatchError, BatchHeader, TimestampType, varint};

/// One record header; keys may repeat within a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// UTF-8 by convention; kept as it is.
    pub key: Bytes,
    /// Absent is not the same as empty.
    pub value: Option<Bytes>,
}

/// One record, its offset and timestamp made absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place in the partition.
    pub offset: i64,
    /// Unix milliseconds.
    pub timestamp: i64,
    /// Absent is not the same as empty.
    pub key: Option<Bytes>,
    /// Absent is a tombstone.
    pub value: Option<Bytes>,
    /// In the producer's order.
    pub headers: Vec<RecordHeader>,
}

/// Where the parts of one record stand in a batch's decompressed body.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Milliseconds after the batch's base timestamp.
    pub(crate) timestamp_delta: i64,
    /// Offsets after the batch's base offset.
    pub(crate) offset_delta: i32,
    /// The key's bytes.
    pub(crate) key: Option<Range<usize>>,
    value: Option<Range<usize>>,
    header_count: usize,
    headers: Range<usize>,
}

impl Layout {
    /// Finds the parts of the record at `at`; also gives where the next one begins.
    pub(crate) fn at(body: &[u8], at: usize) -> Result<(Layout, usize), &'static str> {
        let mut cursor = Cursor { body, at, end: body.len() };
        let size = cursor.int().ok_or("its length is not a number")?;
        let size = usize::try_from(size).map_err(|_| "its length is negative")?;
        let end = cursor.at + size;
        if end > body.len() {
            return Err("it is longer than what is left of the batch");
        }
        cursor.end = end;
        let layout = cursor.record().ok_or("its fields do not fit its length")?;
        Ok((layout, end))
    }

    fn record(&self, body: &Bytes, base_offset: i64, timestamp: i64) -> Record {
        let slice = |range: &Range<usize>| body.slice(range.clone());
        let mut cursor = Cursor { body, at: self.headers.start, end: self.headers.end };
        let mut headers = Vec::with_capacity(self.header_count);
        for _ in 0..self.header_count {
            let (key, value) = cursor.header().expect("the layout was found through its headers");
            headers.push(RecordHeader { key: slice(&key), value: value.as_ref().map(slice) });
        }
        Record {
            offset: base_offset.wrapping_add(i64::from(self.offset_delta)),
            timestamp,
            key: self.key.as_ref().map(slice),
            value: self.value.as_ref().map(slice),
            headers,
        }
    }
}

/// The records of one batch in order; ends after the first that does not parse.
#[derive(Clone, Debug)]
pub struct Records {
    base_offset: i64,
    base_timestamp: i64,
    /// Overrides all timestamps when the leader set them.
    append_time: Option<i64>,
    count: usize,
    index: usize,
    body: Bytes,
    at: usize,
}

impl Records {
    /// The records in `body`, which is decompressed already.
    pub(crate) fn new(header: &BatchHeader, body: Bytes) -> Records {
        let by_leader = header.timestamp_type() == TimestampType::LogAppendTime;
        Records {
            base_offset: header.base_offset,
            base_timestamp: header.base_timestamp,
            append_time: by_leader.then_some(header.max_timestamp),
            count: header.record_count.max(0) as usize,
            index: 0,
            body,
            at: 0,
        }
    }

    /// Where the next record's parts stand: as the iterator, but shares no bytes.
    pub(crate) fn next_layout(&mut self) -> Option<Result<Layout, BatchError>> {
        let index = self.index;
        if index == self.count {
            let extra = self.at < self.body.len();
            self.at = self.body.len();
            return extra
                .then_some(Err(BatchError::Record { index, reason: "it was not counted" }));
        }
        match Layout::at(&self.body, self.at) {
            Ok((layout, next)) => {
                (self.index, self.at) = (index + 1, next);
                Some(Ok(layout))
            }
            Err(reason) => {
                (self.index, self.at) = (self.count, self.body.len());
                Some(Err(BatchError::Record { index, reason }))
            }
        }
    }

    /// The decompressed records, all of them.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }
}

impl Iterator for Records {
    type Item = Result<Record, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let layout = match self.next_layout()? {
            Ok(layout) => layout,
            Err(error) => return Some(Err(error)),
        };
        let timestamp = self.base_timestamp.wrapping_add(layout.timestamp_delta);
        let timestamp = self.append_time.unwrap_or(timestamp);
        Some(Ok(layout.record(&self.body, self.base_offset, timestamp)))
    }
}

/// Reads the fields of one record, never past its end.
struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
    end: usize,
}

impl Cursor<'_> {
    fn record(&mut self) -> Option<Layout> {
        let _attributes = self.span(1)?;
        let timestamp_delta = self.long()?;
        let offset_delta = self.int()?;
        let key = self.optional()?;
        let value = self.optional()?;
        let header_count = usize::try_from(self.int()?).ok()?;
        let start = self.at;
        // A header is at least two bytes: a larger count cannot be true, and must reserve nothing.
        if header_count > (self.end - start) / 2 {
            return None;
        }
        for _ in 0..header_count {
            self.header()?;
        }
        let headers = start..self.at;
        let whole = self.at == self.end;
        whole.then_some(Layout { timestamp_delta, offset_delta, key, value, header_count, headers })
    }

    fn header(&mut self) -> Option<(Range<usize>, Option<Range<usize>>)> {
        let key = self.optional()??;
        Some((key, self.optional()?))
    }

    /// A length and as many bytes. The outer option is none when they do not fit, the inner one
    /// when the length is negative.
    fn optional(&mut self) -> Option<Option<Range<usize>>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.span(length).map(Some),
            Err(_) => Some(None),
        }
    }

    fn span(&mut self, length: usize) -> Option<Range<usize>> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.end)?;
        let span = self.at..end;
        self.at = end;
        Some(span)
    }

    fn int(&mut self) -> Option<i32> {
        self.number(varint::take_int)
    }

    fn long(&mut self) -> Option<i64> {
        self.number(varint::take_long)
    }

    fn number<T>(&mut self, take: fn(&mut &[u8]) -> Option<T>) -> Option<T> {
        let mut rest = &self.body[self.at..self.end];
        let number = take(&mut rest)?;
        self.at = self.end - rest.len();
        Some(number)
    }
}
