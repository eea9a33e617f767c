//! Request and response headers: what every frame begins with, readable also for unknown APIs.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::codec::DecodeError;
use crate::messages::{ApiKey, StrBytes};
use crate::{guard, varint};

/// What a request says about itself before its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// Which API.
    pub api: ApiKey,
    /// Which version of it; also of the response.
    pub version: i16,
    /// Comes back in the response.
    pub correlation_id: i32,
    /// What the caller calls itself; may be null.
    pub client_id: Option<StrBytes>,
}

impl RequestHeader {
    /// Reads a request header and leaves `bytes` at the body.
    ///
    /// Unknown tagged fields are skipped. The version is not checked here: a header of an unknown
    /// version is read as one of the newest known, which is how Kafka reads ApiVersions.
    pub(crate) fn decode(bytes: &mut Bytes) -> Result<RequestHeader, DecodeError> {
        if bytes.len() < 8 {
            return Err(DecodeError::Truncated);
        }
        let key = bytes.get_i16();
        let version = bytes.get_i16();
        let correlation_id = bytes.get_i32();
        let api = ApiKey::try_from(key).map_err(|()| DecodeError::UnknownApi { key })?;
        let client_id = nullable_string(bytes)?;
        if api.request_header_version(version) >= 2 {
            guard::skip_tagged_fields(bytes)?;
        }
        Ok(RequestHeader { api, version, correlation_id, client_id })
    }

    /// Appends the header in the version that API and version ask for.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_i16(self.api as i16);
        out.put_i16(self.version);
        out.put_i32(self.correlation_id);
        match &self.client_id {
            Some(id) => {
                out.put_i16(i16::try_from(id.len()).expect("a client id is below 32 KiB"));
                out.put_slice(id.as_bytes());
            }
            None => out.put_i16(-1),
        }
        if self.api.request_header_version(self.version) >= 2 {
            varint::put(out, 0);
        }
    }
}

/// Reads a response header and leaves `bytes` at the body; gives the correlation id.
pub(crate) fn decode_response_header(
    api: ApiKey,
    version: i16,
    bytes: &mut Bytes,
) -> Result<i32, DecodeError> {
    let correlation_id = bytes.try_get_i32().map_err(|_| DecodeError::Truncated)?;
    if api.response_header_version(version) >= 1 {
        guard::skip_tagged_fields(bytes)?;
    }
    Ok(correlation_id)
}

/// Appends a response header.
pub(crate) fn encode_response_header(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    out: &mut BytesMut,
) {
    out.put_i32(correlation_id);
    if api.response_header_version(version) >= 1 {
        varint::put(out, 0);
    }
}

fn nullable_string(bytes: &mut Bytes) -> Result<Option<StrBytes>, DecodeError> {
    let length = bytes.try_get_i16().map_err(|_| DecodeError::Truncated)?;
    let Ok(length) = usize::try_from(length) else { return Ok(None) };
    if bytes.len() < length {
        return Err(DecodeError::Truncated);
    }
    // A copy: a share of these bytes would keep the whole request in memory as long as its header.
    let text = bytes.split_to(length);
    let text = std::str::from_utf8(&text).map_err(|_| DecodeError::ClientId)?;
    Ok(Some(StrBytes::from_string(text.to_owned())))
}
