//! Headers and bodies read back as written; what Kafka refuses is refused with the same reach.

use bytes::{BufMut, Bytes, BytesMut};

use super::*;
use crate::messages::{
    ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, StrBytes,
    metadata_request::MetadataRequestTopic,
};

fn header(api: ApiKey, version: i16, client_id: Option<&'static str>) -> RequestHeader {
    let client_id = client_id.map(StrBytes::from_static_str);
    RequestHeader { api, version, correlation_id: -7, client_id }
}

#[test]
fn a_request_reads_back_in_every_version() {
    for version in 0..=versions::supported(ApiKey::Metadata).max {
        let topic = MetadataRequestTopic::default()
            .with_name(Some(StrBytes::from_static_str("topic").into()));
        let body = RequestKind::Metadata(MetadataRequest::default().with_topics(Some(vec![topic])));
        for client_id in [None, Some(""), Some("client")] {
            let header = header(ApiKey::Metadata, version, client_id);
            let frame = encode_request(&header, &body).unwrap();
            assert_eq!(decode_request(frame).unwrap(), Request { header, body: body.clone() });
        }
    }
}

#[test]
fn an_api_versions_response_has_the_oldest_header_in_every_version() {
    for version in 0..=4 {
        let body = ResponseKind::ApiVersions(ApiVersionsResponse::default().with_error_code(35));
        let response = Response { correlation_id: 41, body };
        let parts = encode_response(ApiKey::ApiVersions, version, &response).unwrap();
        assert_eq!(parts[0][..6], [0, 0, 0, 41, 0, 35]);
        let frame = Bytes::from(parts.concat());
        assert_eq!(decode_response(ApiKey::ApiVersions, version, frame).unwrap(), response);
    }
}

#[test]
fn unknown_keys_and_versions_are_told_apart() {
    let mut frame = BytesMut::new();
    frame.put_i16(9_999);
    frame.put_i16(0);
    frame.put_i32(7);
    frame.put_i16(-1);
    let unknown = decode_request(frame.freeze());
    assert_eq!(unknown, Err(DecodeError::UnknownApi { key: 9_999 }));

    let mut frame = BytesMut::new();
    header(ApiKey::ApiVersions, 999, None).encode(&mut frame);
    let wanted = header(ApiKey::ApiVersions, 999, None);
    let unsupported = decode_request(frame.freeze());
    assert_eq!(unsupported, Err(DecodeError::UnsupportedVersion { header: wanted }));
}

#[test]
fn unknown_tagged_fields_in_header_and_body_are_skipped() {
    let header = header(ApiKey::ApiVersions, 3, None);
    let mut frame = BytesMut::new();
    header.encode(&mut frame);
    frame.truncate(frame.len() - 1);
    frame.put_slice(b"\x01\x63\x02hi");
    frame.put_slice(b"\x02a\x02b\x01\xf4\x03\x03abc");
    let request = decode_request(frame.freeze()).unwrap();
    let RequestKind::ApiVersions(body) = request.body else { panic!("another API") };
    assert_eq!(body.client_software_name, StrBytes::from_static_str("a"));
}

#[test]
fn a_field_that_the_version_lacks_cannot_be_encoded() {
    let body = RequestKind::ApiVersions(ApiVersionsRequest::default());
    assert!(encode_request(&header(ApiKey::ApiVersions, 77, None), &body).is_err());
}
