//! Whole messages: frames to requests and responses, and back.

use bytes::{Bytes, BytesMut};
use kafka_protocol::protocol::{Decodable, Encodable};
use thiserror::Error;

use crate::header::{self, RequestHeader};
use crate::messages::{ApiKey, RequestKind, RequestMessage, ResponseKind};
use crate::{guard, versions};

/// What is set aside for headers, and for a body without records before it grows.
const SMALL_FRAME: usize = 128;

/// A request with its header.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who asks what in which version.
    pub header: RequestHeader,
    /// What is asked; its variant is that of `header.api`.
    pub body: RequestKind,
}

/// A response with the correlation id of its request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The request's.
    pub correlation_id: i32,
    /// The answer.
    pub body: ResponseKind,
}

/// Why a frame could not be read. All of them end the connection, with one exception: an
/// ApiVersions request of an unknown version is answered in version 0 (KIP-511).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The frame ends before the message does, or a length in it exceeds what is left.
    #[error("a length in the message does not fit its frame")]
    Truncated,
    /// More array items and tagged fields than anyone needs.
    #[error("the message holds more than {limit} elements")]
    TooManyElements {
        /// The most that is read.
        limit: usize,
    },
    /// No API has this key.
    #[error("unknown API key {key}")]
    UnknownApi {
        /// The key.
        key: i16,
    },
    /// The API is known, this version of it is not.
    #[error("{:?} version {} is not supported", .header.api, .header.version)]
    UnsupportedVersion {
        /// The header, read as one of the newest known version.
        header: RequestHeader,
    },
    /// A client id that is not text.
    #[error("the client id is not UTF-8")]
    ClientId,
    /// The body is not a message of its API and version.
    #[error("malformed {api:?} version {version}: {why}")]
    Malformed {
        /// The API.
        api: ApiKey,
        /// Its version.
        version: i16,
        /// What the decoder said.
        why: String,
    },
}

/// A message that its version cannot express: our own mistake, or a field set that came too late.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot encode {api:?} version {version}: {why}")]
pub struct EncodeError {
    /// The API.
    pub api: ApiKey,
    /// The version.
    pub version: i16,
    /// What the encoder said.
    pub why: String,
}

/// Reads a whole request frame. Record bytes share the frame's memory.
pub fn decode_request(mut frame: Bytes) -> Result<Request, DecodeError> {
    let header = RequestHeader::decode(&mut frame)?;
    let (api, version) = (header.api, header.version);
    if !versions::supported(api).contains(version) {
        return Err(DecodeError::UnsupportedVersion { header });
    }
    guard::check_request(api, version, &frame)?;
    let body = RequestKind::decode(api, &mut frame, version)
        .map_err(|why| malformed(api, version, &why))?;
    Ok(Request { header, body })
}

/// Writes a request frame, without its length prefix.
pub fn encode_request(header: &RequestHeader, body: &RequestKind) -> Result<Bytes, EncodeError> {
    let mut out = BytesMut::with_capacity(request_capacity(header, body));
    header.encode(&mut out);
    body.encode(&mut out, header.version)
        .map_err(|why| unencodable(header.api, header.version, &why))?;
    Ok(out.freeze())
}

/// Reads a whole response frame to a request of this API and version.
pub fn decode_response(
    api: ApiKey,
    version: i16,
    mut frame: Bytes,
) -> Result<Response, DecodeError> {
    let correlation_id = header::decode_response_header(api, version, &mut frame)?;
    check_response(api, version, &frame)?;
    let body = ResponseKind::decode(api, &mut frame, version)
        .map_err(|why| malformed(api, version, &why))?;
    Ok(Response { correlation_id, body })
}

/// Reads a whole response frame to a request of type `R`; gives the correlation id beside it.
pub fn decode_answer<R: RequestMessage>(
    version: i16,
    mut frame: Bytes,
) -> Result<(i32, R::Response), DecodeError> {
    let api = ApiKey::try_from(R::KEY).expect("a request type has the key of an API");
    let correlation_id = header::decode_response_header(api, version, &mut frame)?;
    check_response(api, version, &frame)?;
    let body =
        R::Response::decode(&mut frame, version).map_err(|why| malformed(api, version, &why))?;
    Ok((correlation_id, body))
}

/// Writes a response frame, without its length prefix, in pieces to be sent in order.
pub fn encode_response(
    api: ApiKey,
    version: i16,
    response: &Response,
) -> Result<Vec<Bytes>, EncodeError> {
    let mut out = BytesMut::with_capacity(response_capacity(version, &response.body));
    header::encode_response_header(api, version, response.correlation_id, &mut out);
    response.body.encode(&mut out, version).map_err(|why| unencodable(api, version, &why))?;
    Ok(vec![out.freeze()])
}

/// Room for a whole frame that carries records, so that they are copied once; a little for others.
fn request_capacity(header: &RequestHeader, body: &RequestKind) -> usize {
    let body = match body {
        RequestKind::Produce(body) => body.compute_size(header.version).unwrap_or(0),
        _ => 0,
    };
    SMALL_FRAME + header.client_id.as_ref().map_or(0, |id| id.len()) + body
}

/// The same for a response.
fn response_capacity(version: i16, body: &ResponseKind) -> usize {
    match body {
        ResponseKind::Fetch(body) => SMALL_FRAME + body.compute_size(version).unwrap_or(0),
        _ => SMALL_FRAME,
    }
}

/// A response of a version that we do not know is one that we never asked for.
fn check_response(api: ApiKey, version: i16, body: &[u8]) -> Result<(), DecodeError> {
    debug_assert!(versions::supported(api).contains(version), "we ask in versions that we know");
    guard::check_response(api, version, body)
}

fn malformed(api: ApiKey, version: i16, why: &impl std::fmt::Display) -> DecodeError {
    DecodeError::Malformed { api, version, why: format!("{why:#}") }
}

fn unencodable(api: ApiKey, version: i16, why: &impl std::fmt::Display) -> EncodeError {
    EncodeError { api, version, why: format!("{why:#}") }
}

#[cfg(test)]
mod tests;
