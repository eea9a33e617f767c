//! Text that comes in as a stream, without a name: its first bytes say how it is packed.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    os::fd::AsFd,
};

use crate::{
    columns::file::MAGIC,
    packed::{Packing, Text},
};

/// How much of a stream says how it is packed, or that it is binary.
const MAGIC_BYTES: usize = MAGIC.len();

/// What comes in on standard input, unpacked, and whether it is a binary history.
pub(crate) fn standard_input() -> io::Result<(Text, bool)> {
    text(unbuffered()?)
}

/// Standard input as it comes: the lock and the small buffer of `Stdin` are not needed.
pub(crate) fn unbuffered() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn text(mut input: impl Read + Send + 'static) -> io::Result<(Text, bool)> {
    let mut first = Vec::with_capacity(MAGIC_BYTES);
    // A pipe may give them one by one.
    input.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut first)?;
    let (packing, is_binary) = (packing(&first), first == MAGIC.as_bytes());
    Ok((packing.unpack(Cursor::new(first).chain(input))?, is_binary))
}

fn packing(first: &[u8]) -> Packing {
    match first {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        // A frame, or one to be skipped, which pzstd begins with.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
        _ => Packing::None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Gives its bytes one by one, as a slow pipe does.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let one = into.len().min(1);
            self.0.read(&mut into[..one])
        }
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut read = String::new();
        text(Slow(Cursor::new(bytes.to_vec())))?.0.read_to_string(&mut read).map(|_| read)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).expect("memory takes it");
        out.finish().expect("memory takes it")
    }

    #[test]
    fn first_bytes_say_how_a_stream_is_packed() {
        for plain in ["", "{", "{}\n", "{\"index\":0}\n{\"index\":1}\n"] {
            let zstd = zstd::encode_all(plain.as_bytes(), 1).expect("memory takes it");
            let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7], zstd.as_slice()].concat();
            for packed in [plain.as_bytes().to_vec(), gzip(plain.as_bytes()), zstd, skipped] {
                assert_eq!(read(&packed).expect("it is read"), plain, "{packed:x?}");
            }
        }
    }

    #[test]
    fn what_only_begins_like_a_packing_is_an_error_or_plain() {
        read(&[0x1f, 0x8b, 0, 0, 0, 0]).expect_err("no gzip");
        assert_eq!(read(&[0x1f]).expect("too short for a packing"), "\u{1f}");
    }
}
