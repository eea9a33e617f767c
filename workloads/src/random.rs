//! Named random sub-streams of the one seed.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// The stream `name` of `seed`.
///
/// Streams are independent: drawing more from one never shifts another, so a new consumer of chance
/// leaves every existing plan as it was.
pub fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(fnv1a(name.as_bytes()));
    rng
}

/// FNV-1a: the stream number must not change with the compiler or its standard library.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::{fnv1a, stream};

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let draw = |seed, name| stream(seed, name).next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn the_hash_is_pinned() {
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
