//! What goes into a node and what comes out: the whole boundary between decisions and I/O.

use bytes::Bytes;
use highwater_log::{Command, Completion, StoreError};

/// One TCP connection, accepted or dialled; the shell never reuses a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// One disk command under way; the node never reuses a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u64);

/// What happened outside.
#[derive(Debug)]
pub enum Input {
    /// The first input: open the log directory, register, serve.
    Start,
    /// A client, broker or controller connected to the listener of this name.
    Accepted {
        /// The new connection.
        conn: ConnId,
        /// The listener's name in `listeners`.
        listener: String,
        /// The caller's address, for logs.
        peer: String,
    },
    /// The answer to [`Effect::Dial`].
    Dialed {
        /// The connection that was asked for.
        conn: ConnId,
        /// False when it could not be opened; the number is then gone.
        open: bool,
    },
    /// One whole frame, without its length prefix.
    Frame {
        /// Where it came from.
        conn: ConnId,
        /// Header and body.
        frame: Bytes,
    },
    /// The connection is gone (either side); nothing more comes from it.
    Closed {
        /// Which one.
        conn: ConnId,
    },
    /// A disk command ended.
    Disk {
        /// Which one.
        op: OpId,
        /// What it gave.
        done: Completion,
    },
    /// The disk failed at something that no command asked for (`flush.ms`).
    DiskFailed {
        /// How.
        error: StoreError,
    },
    /// `Node::next_wake` has passed.
    Tick,
    /// SIGTERM: hand over, then exit (rule 33).
    Shutdown,
}

/// What the shell is asked to do, in this order.
#[derive(Debug)]
pub enum Effect {
    /// Write one frame: a length prefix over all parts, then the parts.
    Send {
        /// Where to.
        conn: ConnId,
        /// The frame's bytes in pieces, so that record bytes are not copied.
        parts: Vec<Bytes>,
    },
    /// Read no further frames from this connection until [`Effect::Resume`]; those that are under
    /// way may still come. A shell that cannot pause may go on: its own limits then bound memory.
    Pause {
        /// Which one.
        conn: ConnId,
    },
    /// Read on after [`Effect::Pause`].
    Resume {
        /// Which one.
        conn: ConnId,
    },
    /// Close after what was sent is out. No [`Input::Closed`] need follow.
    Close {
        /// Which one.
        conn: ConnId,
    },
    /// Open a connection; answered by [`Input::Dialed`].
    Dial {
        /// Its number, chosen by the node (the shell's own numbers are even, the node's odd).
        conn: ConnId,
        /// `host:port`.
        address: String,
    },
    /// Execute after all earlier commands; answered by [`Input::Disk`].
    Disk {
        /// Its number.
        op: OpId,
        /// What to do.
        command: Command,
    },
    /// One line for the node's log.
    Event(crate::event::Event),
    /// The node serves: print the ready line.
    Ready,
    /// Stop the process with this status after all effects before it.
    Exit {
        /// 0 after a controlled shutdown.
        status: i32,
    },
}

/// The effects of one step, in order.
pub type Effects = Vec<Effect>;
