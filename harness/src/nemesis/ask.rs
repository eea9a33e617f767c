//! One request to one node, past every proxy: how faults move leaders and probe the paused.

use std::{io, net::SocketAddr, time::Duration};

use bytes::Bytes;
use highwater_wire::{
    codec::{DecodeError, EncodeError, decode_answer, encode_request},
    frame,
    header::RequestHeader,
    messages::{ApiKey, RequestKind, RequestMessage, StrBytes},
};
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};

/// What the harness calls itself.
const CLIENT_ID: &str = "highwater-nemesis";
/// The largest answer that is accepted, in bytes.
const LARGEST: usize = 16 << 20;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum AskError {
    /// No connection, or it ended.
    #[error("{address}: {source}")]
    Io {
        /// The node's address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No answer in time.
    #[error("{address} did not answer within {} ms", within.as_millis())]
    Late {
        /// The node's address.
        address: SocketAddr,
        /// How long it was given.
        within: Duration,
    },
    /// The request cannot be written in its version.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The answer cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Asks the node at `address` one thing over a connection of its own.
///
/// # Errors
/// When there is no readable answer within the time given.
pub async fn ask<R: RequestMessage>(
    address: SocketAddr,
    version: i16,
    body: RequestKind,
    within: Duration,
) -> Result<R::Response, AskError> {
    let api = ApiKey::try_from(R::KEY).expect("a request type has the key of an API");
    let client_id = Some(StrBytes::from_static_str(CLIENT_ID));
    let header = RequestHeader { api, version, correlation_id: 1, client_id };
    let request = encode_request(&header, &body)?;
    let answer = time::timeout(within, exchange(address, &request)).await;
    let answer = answer.map_err(|_elapsed| AskError::Late { address, within })?;
    let answer = answer.map_err(|source| AskError::Io { address, source })?;
    Ok(decode_answer::<R>(version, answer)?.1)
}

async fn exchange(address: SocketAddr, request: &Bytes) -> io::Result<Bytes> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&frame::prefix(std::slice::from_ref(request))).await?;
    stream.write_all(request).await?;
    let length = stream.read_i32().await?;
    let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST);
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await?;
    Ok(answer.into())
}

/// Whether the listener at `address` answers ApiVersions within the time given.
pub async fn serves(address: SocketAddr, within: Duration) -> bool {
    /// Version 0, correlation id 1, no client id: every broker and controller answers it.
    const API_VERSIONS: &[u8] = &[0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff];
    let request = Bytes::from_static(API_VERSIONS);
    matches!(time::timeout(within, exchange(address, &request)).await, Ok(Ok(_)))
}
