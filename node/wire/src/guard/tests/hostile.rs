//! Broken and hostile messages: refused or read, never a panic, never more memory than is due.

use allocation_counter::measure;
use bytes::{BufMut, Bytes};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::codec::{self, DecodeError};
use crate::guard::schema::Message;
use crate::guard::{check_request, check_response, schema};
use crate::messages::{ApiKey, RequestKind, ResponseKind};
use crate::{sample, versions};

/// The most memory that decoding may take: so many bytes for each byte of the message, since one
/// byte of tag or item may become an entry of a map or a structure.
const BYTES_PER_BYTE: u64 = 400;
/// What error texts and the like take.
const CONSTANT_BYTES: u64 = 16 << 10;

fn random_api(random: &mut ChaCha8Rng) -> (ApiKey, i16) {
    loop {
        if let Ok(api) = ApiKey::try_from(random.random_range(0..100)) {
            let range = versions::supported(api);
            return (api, random.random_range(range.min..=range.max));
        }
    }
}

#[test]
fn mutated_messages_never_panic_and_never_take_more_memory_than_their_size_allows() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut refused = 0;
    for round in 0..60_000 {
        let (api, version) = random_api(&mut random);
        let is_request = round % 2 == 0;
        let schema = if is_request { schema::request(api) } else { schema::response(api) };
        let mut body = sample::message(schema, version, &mut random);
        sample::mutate(&mut body, &mut random);
        let size = body.len() as u64;
        let mut body = Bytes::from(body);
        let mut failed = false;
        let used = measure(|| {
            failed = if is_request {
                check_request(api, version, &body).is_err()
                    || RequestKind::decode(api, &mut body, version).is_err()
            } else {
                check_response(api, version, &body).is_err()
                    || ResponseKind::decode(api, &mut body, version).is_err()
            };
        });
        refused += u32::from(failed);
        let limit = CONSTANT_BYTES + BYTES_PER_BYTE * size;
        assert!(used.bytes_max <= limit, "{api:?} {version}: {} of {size}", used.bytes_max);
    }
    assert!(
        (10_000..60_000).contains(&refused),
        "mutations break many messages, not all: {refused}"
    );
}

#[test]
fn the_eight_bytes_that_asked_for_77_gigabytes_are_refused() {
    let body = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert_eq!(check_request(ApiKey::Metadata, 1, &body), Err(DecodeError::Truncated));
}

/// A legal message once for each length and count in it, with that one far too large.
fn with_huge_lengths(schema: &Message, version: i16, random: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    let (message, lengths) = sample::with_lengths(schema, version, random);
    let huge: &[u8] = match version >= schema.flexible_from {
        true => &[0xff, 0xff, 0xff, 0xff, 0x0f],
        false => &[0x7f, 0xff, 0xff, 0xff],
    };
    lengths.iter().map(|&at| [&message[..at], huge].concat()).collect()
}

#[test]
fn a_hostile_length_anywhere_in_any_message_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..3_000 {
        let (api, version) = random_api(&mut random);
        for body in with_huge_lengths(schema::request(api), version, &mut random) {
            assert!(check_request(api, version, &body).is_err(), "{api:?} {version}: {body:?}");
        }
        for body in with_huge_lengths(schema::response(api), version, &mut random) {
            assert!(check_response(api, version, &body).is_err(), "{api:?} {version}: {body:?}");
        }
    }
}

#[test]
fn a_million_topics_in_one_metadata_request_are_refused_in_little_memory() {
    let mut frame = Vec::new();
    frame.put_i16(ApiKey::Metadata as i16);
    frame.put_i16(1);
    frame.put_i32(7);
    frame.put_i16(-1);
    frame.put_i32(1_000_000);
    (0..1_000_000).for_each(|_| frame.put_slice(&[0, 1, b'x']));
    let frame = Bytes::from(frame);
    let used = measure(|| {
        let refused = codec::decode_request(frame);
        assert!(matches!(refused, Err(DecodeError::TooManyElements { .. })));
    });
    assert!(used.bytes_max < 1 << 20, "{} bytes", used.bytes_max);
}
