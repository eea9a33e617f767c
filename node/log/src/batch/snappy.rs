//! Snappy as Kafka clients write it: xerial's stream of blocks, or (librdkafka) one raw block.

use bytes::Bytes;

/// What xerial's streams begin with.
const MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
/// The magic, a version and the oldest version that can read it.
const STREAM_HEADER_BYTES: usize = 16;
/// Plain bytes a block, as Java's writer has them.
const BLOCK_BYTES: usize = 32 * 1024;

pub(crate) fn compress(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(STREAM_HEADER_BYTES + plain.len() / 2);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&1u32.to_be_bytes());
    out.extend_from_slice(&1u32.to_be_bytes());
    let mut encoder = snap::raw::Encoder::new();
    for block in plain.chunks(BLOCK_BYTES) {
        let compressed = encoder.compress_vec(block).expect("32 KiB can be compressed");
        out.extend_from_slice(&(compressed.len() as u32).to_be_bytes());
        out.extend_from_slice(&compressed);
    }
    out
}

/// Gives more than `limit` bytes, or an error, when there are more.
pub(crate) fn decompress(body: &[u8], limit: usize) -> Result<Bytes, String> {
    let mut plain = Vec::new();
    if !body.starts_with(&MAGIC) {
        block(body, limit, &mut plain)?;
        return Ok(plain.into());
    }
    let mut rest = body.get(STREAM_HEADER_BYTES..).ok_or("the stream header is cut short")?;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        block(after.get(..length).ok_or("a block is cut short")?, limit, &mut plain)?;
        rest = &after[length..];
    }
    if !rest.is_empty() {
        return Err("a block's length is cut short".to_owned());
    }
    Ok(plain.into())
}

fn block(compressed: &[u8], limit: usize, plain: &mut Vec<u8>) -> Result<(), String> {
    let length = snap::raw::decompress_len(compressed).map_err(|error| error.to_string())?;
    let start = plain.len();
    if start + length > limit {
        return Err(format!("it is larger than {limit} bytes when decompressed"));
    }
    plain.resize(start + length, 0);
    let mut decoder = snap::raw::Decoder::new();
    decoder.decompress(compressed, &mut plain[start..]).map_err(|error| error.to_string())?;
    Ok(())
}
