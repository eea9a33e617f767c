//! The task of one connection: frames in, what is left to write out.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use highwater_broker::wire::frame::FrameBuffer;

use super::gate::shrink;
use super::{Connection, Gate};
use crate::message::Message;

/// Bytes of memory that a read has at least.
const READ_BYTES: usize = 16 * 1024;
/// Bytes that are reserved at once for a large frame: its announced length alone reserves nothing.
const RESERVE_MAX_BYTES: usize = 1 << 20;

/// What every connection's task needs.
#[derive(Clone, Debug)]
pub struct Shared {
    /// To the node.
    pub node: Sender<Message>,
    /// Memory for requests.
    pub gate: Gate,
    /// `socket.request.max.bytes`.
    pub request_max_bytes: usize,
}

/// What became of looking for a whole frame.
enum Found {
    /// The node has it.
    Delivered,
    /// Bytes are missing.
    Nothing,
    /// Its length ends the connection, as Kafka ends it, or the node is gone.
    End,
}

/// Serves the connection until one side closes it.
pub async fn serve(connection: Arc<Connection>, shared: Shared) {
    let mut buffer = FrameBuffer::new(shared.request_max_bytes);
    loop {
        let writing = connection.has_pending();
        if connection.is_closing() && !writing {
            break;
        }
        let taking = !connection.is_closing() && connection.has_room();
        if taking {
            match deliver(&connection, &mut buffer, &shared).await {
                Found::Delivered => continue,
                Found::Nothing => {}
                Found::End => break,
            }
        }
        tokio::select! {
            () = connection.changed.notified() => {}
            ready = connection.stream.writable(), if writing => {
                if ready.is_err() {
                    break;
                }
                connection.flush();
            }
            ready = connection.stream.readable(), if taking => {
                if ready.is_err() || !read(&connection, &mut buffer) {
                    break;
                }
            }
        }
    }
    let _ = shared.node.send(Message::Closed { conn: connection.id() });
}

/// Reads once; false when the connection is at its end.
fn read(connection: &Connection, buffer: &mut FrameBuffer) -> bool {
    let missing = buffer.missing().unwrap_or_default().min(RESERVE_MAX_BYTES);
    let space = buffer.space();
    space.reserve(missing.max(READ_BYTES));
    match connection.stream.try_read_buf(space) {
        Ok(read) => read > 0,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}

/// Hands the next whole frame to the node.
async fn deliver(connection: &Connection, buffer: &mut FrameBuffer, shared: &Shared) -> Found {
    match buffer.next_frame() {
        Ok(Some(frame)) => {
            let frame = shared.gate.hold(frame).await;
            connection.deliver_one();
            let message = Message::Frame { conn: connection.id(), frame };
            match shared.node.send(message) {
                Ok(()) => Found::Delivered,
                Err(_) => Found::End,
            }
        }
        Ok(None) => {
            shrink(buffer.space());
            Found::Nothing
        }
        Err(error) => {
            let peer = connection.stream.peer_addr();
            let peer = peer.map_or("a closed connection".to_owned(), |peer| peer.to_string());
            crate::log_lines::write(&highwater_broker::Event::RequestRefused {
                peer,
                why: error.to_string(),
            });
            Found::End
        }
    }
}
