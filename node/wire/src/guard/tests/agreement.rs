//! Our table and the codec library read the same bytes as the same fields, in every version.

use bytes::Bytes;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::guard::{check_request, check_response, schema};
use crate::messages::{ApiKey, RequestKind, ResponseKind};
use crate::{sample, versions};

/// All APIs of the codec library.
fn apis() -> impl Iterator<Item = ApiKey> {
    (0..200).filter_map(|key| ApiKey::try_from(key).ok())
}

#[test]
fn every_request_is_read_to_its_last_byte_by_both() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for api in apis() {
        for version in versions::supported(api).min..=versions::supported(api).max {
            for _ in 0..4 {
                let body = sample::message(schema::request(api), version, &mut random);
                check_request(api, version, &body).unwrap();
                let mut rest = Bytes::from(body);
                let read = RequestKind::decode(api, &mut rest, version);
                assert!(read.is_ok() && rest.is_empty(), "{api:?} {version}: {read:?}, {rest:?}");
            }
        }
    }
}

#[test]
fn every_response_is_read_to_its_last_byte_by_both() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for api in apis() {
        for version in versions::supported(api).min..=versions::supported(api).max {
            for _ in 0..4 {
                let body = sample::message(schema::response(api), version, &mut random);
                check_response(api, version, &body).unwrap();
                let mut rest = Bytes::from(body);
                let read = ResponseKind::decode(api, &mut rest, version);
                assert!(read.is_ok() && rest.is_empty(), "{api:?} {version}: {read:?}, {rest:?}");
            }
        }
    }
}
