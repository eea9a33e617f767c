//! A connection of the harness itself to a node's real port, past every proxy.

use std::{io, net::SocketAddr, time::Duration};

use highwater_wire::{
    ApiKey, FrameBuffer, RequestHeader, RequestKind, StrBytes, codec, frame,
    messages::{ApiVersionsRequest, RequestMessage},
};
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};

/// What the harness calls itself.
const CLIENT_ID: &str = "highwater";
/// Largest answer taken.
const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;

/// Why a node could not be asked.
#[derive(Debug, Error)]
pub enum DirectError {
    /// The connection failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// No answer in time.
    #[error("no answer within {0} ms")]
    Late(u64),
    /// The answer is none.
    #[error("the answer cannot be read: {0}")]
    Malformed(String),
}

/// One connection; one request at a time.
#[derive(Debug)]
pub struct Direct {
    stream: TcpStream,
    buffer: FrameBuffer,
    next_correlation_id: i32,
}

impl Direct {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens, or the connection is not made within `patience`.
    pub async fn connect(address: SocketAddr, patience: Duration) -> Result<Direct, DirectError> {
        let stream = time::timeout(patience, TcpStream::connect(address))
            .await
            .map_err(|_| late(patience))??;
        stream.set_nodelay(true)?;
        Ok(Direct { stream, buffer: FrameBuffer::new(MAX_FRAME_BYTES), next_correlation_id: 0 })
    }

    /// Asks in a version and waits for the answer, at most `patience`. After an error the
    /// connection is of no more use.
    ///
    /// # Errors
    /// When the connection ends, the answer is late or cannot be read.
    pub async fn call<R: RequestMessage + Into<RequestKind>>(
        &mut self,
        version: i16,
        request: R,
        patience: Duration,
    ) -> Result<R::Response, DirectError> {
        let api = ApiKey::try_from(R::KEY).expect("a request type has the key of an API");
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id += 1;
        let client_id = Some(StrBytes::from_static_str(CLIENT_ID));
        let header = RequestHeader { api, version, correlation_id, client_id };
        let request = codec::encode_request(&header, &request.into())
            .expect("the harness sets only fields that its fixed version has");
        let exchange = async {
            self.stream.write_all(&frame::prefix(std::slice::from_ref(&request))).await?;
            self.stream.write_all(&request).await?;
            self.read_frame().await
        };
        let answer = time::timeout(patience, exchange).await.map_err(|_| late(patience))??;
        match codec::decode_answer::<R>(version, answer) {
            Ok((answered, answer)) if answered == correlation_id => Ok(answer),
            Ok(_) => Err(DirectError::Malformed("it belongs to another request".into())),
            Err(error) => Err(DirectError::Malformed(error.to_string())),
        }
    }

    async fn read_frame(&mut self) -> Result<bytes::Bytes, DirectError> {
        loop {
            match self.buffer.next_frame() {
                Ok(Some(frame)) => return Ok(frame),
                Ok(None) => {}
                Err(error) => return Err(DirectError::Malformed(error.to_string())),
            }
            if self.stream.read_buf(self.buffer.space()).await? == 0 {
                return Err(DirectError::Io(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

/// Whether the listener at `address` answers within the time given.
pub async fn serves(address: SocketAddr, within: Duration) -> bool {
    /// Every broker and controller answers it.
    const API_VERSIONS: i16 = 0;
    let asked = async {
        let mut node = Direct::connect(address, within).await?;
        node.call(API_VERSIONS, ApiVersionsRequest::default(), within).await
    };
    // An answer that cannot be read is one.
    matches!(time::timeout(within, asked).await, Ok(Ok(_) | Err(DirectError::Malformed(_))))
}

fn late(patience: Duration) -> DirectError {
    DirectError::Late(patience.as_millis() as u64)
}
