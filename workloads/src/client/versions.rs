//! Which version of an API a connection speaks: ours, or the newest that its broker knows.

use std::collections::BTreeMap;

use bytes::Bytes;
use highwater_wire::{ApiKey, RequestHeader, RequestKind, ResponseKind, codec};

/// The newest version of each API that a broker names; one that it does not name is not limited.
#[derive(Debug, Default)]
pub(super) struct Newest(BTreeMap<i16, i16>);

impl Newest {
    /// What an answer to ApiVersions of this version says; nothing when it cannot be read.
    pub(super) fn of(version: i16, answer: Bytes) -> Newest {
        match codec::decode_response(ApiKey::ApiVersions, version, answer).map(|read| read.body) {
            Ok(ResponseKind::ApiVersions(named)) if named.error_code == 0 => {
                let keys = named.api_keys.iter();
                Newest(keys.map(|api| (api.api_key, api.max_version)).collect())
            }
            Ok(_) | Err(_) => Newest::default(),
        }
    }

    /// The frame of a request, and the version that it is in: the header's, or an older one where
    /// the broker knows no newer and the request can be said in it.
    pub(super) fn encode(&self, header: &RequestHeader, body: &RequestKind) -> (i16, Bytes) {
        let newest = self.0.get(&(header.api as i16)).copied();
        let older = newest.filter(|newest| *newest < header.version).and_then(|version| {
            let header = RequestHeader { version, ..header.clone() };
            Some((version, codec::encode_request(&header, body).ok()?))
        });
        older.unwrap_or_else(|| {
            let frame = codec::encode_request(header, body)
                .expect("a client sets only fields that its own version has");
            (header.version, frame)
        })
    }
}

#[cfg(test)]
mod tests {
    use highwater_wire::{
        Response,
        messages::{ApiVersionsResponse, ProduceRequest, api_versions_response::ApiVersion},
    };

    use super::*;

    const GREETING: i16 = 3;

    fn newest(produce: i16) -> Newest {
        let named = ApiVersion::default().with_max_version(produce);
        let answer = ApiVersionsResponse::default().with_api_keys(vec![named]);
        let body = ResponseKind::ApiVersions(answer);
        let response = Response { correlation_id: 1, body };
        let parts = codec::encode_response(ApiKey::ApiVersions, GREETING, &response);
        Newest::of(GREETING, parts.unwrap().concat().into())
    }

    fn version(newest: &Newest, body: ProduceRequest) -> i16 {
        let header =
            RequestHeader { api: ApiKey::Produce, version: 11, correlation_id: 7, client_id: None };
        let (version, frame) = newest.encode(&header, &RequestKind::Produce(body));
        assert_eq!(codec::decode_request(frame).unwrap().header.version, version);
        version
    }

    #[test]
    fn a_broker_is_asked_in_a_version_that_it_knows() {
        let plain = ProduceRequest::default;
        for (known, asked) in [(9, 9), (11, 11), (13, 11)] {
            assert_eq!(version(&newest(known), plain()), asked);
        }
        assert_eq!(version(&Newest::of(GREETING, Bytes::from_static(b"?")), plain()), 11);
    }

    #[test]
    fn what_no_older_version_can_say_is_asked_in_ours() {
        // No version as old as this one can be encoded.
        assert_eq!(version(&newest(1), ProduceRequest::default()), 11);
    }
}
