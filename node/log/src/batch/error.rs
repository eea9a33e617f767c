//! Why bytes are not a record batch.

use thiserror::Error;

/// What is wrong with a batch, found before any of its content is believed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BatchError {
    /// The bytes end inside the batch: half a write, or half an answer.
    #[error("the batch needs {needed} bytes and {present} are there")]
    Incomplete {
        /// Bytes that the batch declares, or a header's.
        needed: u64,
        /// Bytes that are there.
        present: u64,
    },
    /// The declared length cannot be a batch's.
    #[error("a batch length of {0} is impossible")]
    Length(i32),
    /// A message format that is not 2.
    #[error("message format {0} is not supported, only format 2 is")]
    Magic(i8),
    /// The content does not match the checksum.
    #[error("the checksum is {declared:08x}, the content's is {actual:08x}")]
    Crc {
        /// In the header.
        declared: u32,
        /// Of the bytes.
        actual: u32,
    },
    /// The records cannot be decompressed.
    #[error("the {codec} data cannot be decompressed: {reason}")]
    Compression {
        /// The codec's name.
        codec: &'static str,
        /// The library's words.
        reason: String,
    },
    /// The attributes name a codec that does not exist.
    #[error("compression type {0} is unknown")]
    UnknownCodec(i16),
    /// The decompressed records are larger than the reader allows.
    #[error("the records are larger than {limit} bytes when decompressed")]
    TooLarge {
        /// In bytes.
        limit: usize,
    },
    /// A record does not parse.
    #[error("record {index} of the batch is malformed: {reason}")]
    Record {
        /// Its position in the batch, from 0.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}
