//! The five compression types, with an upper bound on what decompression may produce.

use std::io::{self, Read, Write};

use bytes::Bytes;

use super::header::CODEC_BITS;
use super::{BatchError, snappy};

/// How a batch's records are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Codec {
    /// Not at all.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// Blocks in xerial's framing; raw blocks are read too.
    Snappy,
    /// LZ4 frames with independent blocks.
    Lz4,
    /// RFC 8878.
    Zstd,
}

impl Codec {
    /// All of them, in order of their numbers.
    pub const ALL: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

    /// The name in `compression.type`.
    pub fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Gzip => "gzip",
            Codec::Snappy => "snappy",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }

    /// The codec of this name in `compression.type`; `uncompressed` is one for none.
    pub fn from_name(name: &str) -> Option<Codec> {
        match name {
            "uncompressed" => Some(Codec::None),
            _ => Codec::ALL.into_iter().find(|codec| codec.name() == name),
        }
    }

    pub(crate) fn from_attributes(attributes: i16) -> Result<Codec, BatchError> {
        let number = attributes & CODEC_BITS;
        let known = Codec::ALL.get(number as usize).copied();
        known.ok_or(BatchError::UnknownCodec(number))
    }

    /// Compresses a batch's records.
    pub fn compress(self, plain: Bytes) -> Bytes {
        self.try_compress(&plain).expect("writing to memory does not fail").unwrap_or(plain)
    }

    /// None when the codec is none.
    fn try_compress(self, plain: &[u8]) -> io::Result<Option<Bytes>> {
        let compressed = match self {
            Codec::None => return Ok(None),
            Codec::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
                encoder.write_all(plain)?;
                encoder.finish()?
            }
            Codec::Snappy => snappy::compress(plain),
            Codec::Lz4 => compress_lz4(plain)?,
            Codec::Zstd => zstd::stream::encode_all(plain, ZSTD_LEVEL)?,
        };
        Ok(Some(compressed.into()))
    }

    /// Decompresses a batch's records. More than `limit` bytes are refused before they are all in
    /// memory: a few kilobytes can claim to be terabytes.
    pub fn decompress(self, body: Bytes, limit: usize) -> Result<Bytes, BatchError> {
        let plain = match self {
            // It is in memory already.
            Codec::None => return Ok(body),
            Codec::Gzip => read_at_most(flate2::read::MultiGzDecoder::new(&body[..]), limit),
            Codec::Snappy => snappy::decompress(&body, limit),
            Codec::Lz4 if has_linked_blocks(&body) => Err("its blocks are linked".to_owned()),
            Codec::Lz4 => read_at_most(lz4_flex::frame::FrameDecoder::new(&body[..]), limit),
            Codec::Zstd => zstd::stream::Decoder::with_buffer(&body[..])
                .map_err(|error| error.to_string())
                .and_then(|decoder| read_at_most(decoder, limit)),
        };
        let reason = |reason| BatchError::Compression { codec: self.name(), reason };
        let plain = plain.map_err(reason)?;
        if plain.len() > limit {
            return Err(BatchError::TooLarge { limit });
        }
        Ok(plain)
    }
}

/// Kafka's default level.
const ZSTD_LEVEL: i32 = 3;

fn compress_lz4(plain: &[u8]) -> io::Result<Vec<u8>> {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    // Kafka's readers refuse linked blocks.
    let info = FrameInfo::new().block_mode(BlockMode::Independent).block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(plain)?;
    encoder.finish().map_err(io::Error::other)
}

/// The frame descriptor's flags follow the four bytes of the magic number.
fn has_linked_blocks(frame: &[u8]) -> bool {
    const INDEPENDENT_BLOCKS: u8 = 0x20;
    frame.get(4).is_some_and(|flags| flags & INDEPENDENT_BLOCKS == 0)
}

/// Reads at most one byte more than `limit`, so that the caller sees that there was more.
fn read_at_most(reader: impl Read, limit: usize) -> Result<Bytes, String> {
    let mut plain = Vec::new();
    let mut reader = reader.take(limit as u64 + 1);
    reader.read_to_end(&mut plain).map_err(|error| error.to_string())?;
    Ok(plain.into())
}
