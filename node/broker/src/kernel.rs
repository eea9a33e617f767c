//! What every part of a node stands on: time, effects, timers, disk, connections, channels.
//!
//! What follows an asynchronous step is a closure that gets the whole node, so that cause and
//! consequence stand side by side. All of them run within `Node::step`, in a fixed order.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use bytes::Bytes;
use highwater_log::{Command, Completion};
use highwater_node_core::types::Time;
use highwater_wire::codec::{self, EncodeError};
use highwater_wire::frame;
use highwater_wire::messages::EnvelopeResponse;
use highwater_wire::{ApiKey, RequestKind, Response, ResponseKind, messages::RequestMessage};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::channel::{CallError, ChannelKey, Channels, Peer};
use crate::config::NodeConfig;
use crate::connection::{Arrival, ConnectionLimits, Connections};
use crate::effect::{Effect, Effects, OpId};
use crate::event::Event;
use crate::node::Node;
use crate::reply::ReplyToken;
use crate::timers::{TimerId, Timers};

/// What runs when something that was asked for has come.
pub type Then<T> = Box<dyn FnOnce(&mut Node, T) + Send>;

/// What runs later, with nothing to hand over.
pub type Later = Box<dyn FnOnce(&mut Node) + Send>;

/// The present moment and what it leads to.
pub(crate) struct Io {
    pub(crate) now: Time,
    pub(crate) out: Effects,
    pub(crate) timers: Timers,
    /// What runs before this step ends.
    pub(crate) later: VecDeque<Later>,
}

/// The services that every part of a node uses.
pub struct Kernel {
    pub(crate) io: Io,
    pub(crate) connections: Connections,
    pub(crate) channels: Channels,
    disk: BTreeMap<OpId, Then<Completion>>,
    next_op: u64,
    random: ChaCha8Rng,
}

impl Kernel {
    /// A kernel whose random choices follow from `seed`.
    pub(crate) fn new(config: &NodeConfig, seed: u64) -> Kernel {
        let limits = ConnectionLimits {
            connections: config.max_connections,
            idle_ns: config.connections_max_idle_ms.saturating_mul(1_000_000),
        };
        Kernel {
            io: Io {
                now: Time(0),
                out: Vec::new(),
                timers: Timers::default(),
                later: VecDeque::new(),
            },
            connections: Connections::new(limits),
            channels: Channels::new(config.node_id),
            disk: BTreeMap::new(),
            next_op: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// The time of this step.
    pub fn now(&self) -> Time {
        self.io.now
    }

    /// The time of this step in Unix milliseconds: a shell's clock counts from 1970.
    pub fn unix_ms(&self) -> i64 {
        (self.io.now.0 / 1_000_000) as i64
    }

    /// The node's only source of chance.
    pub fn random(&mut self) -> &mut ChaCha8Rng {
        &mut self.random
    }

    /// Writes one line of the node's log.
    pub fn event(&mut self, event: Event) {
        self.io.out.push(Effect::Event(event));
    }

    /// Asks the shell for something that has no answer.
    pub fn effect(&mut self, effect: Effect) {
        self.io.out.push(effect);
    }

    /// Runs `then` in `ms` milliseconds.
    pub fn after(&mut self, ms: u64, then: impl FnOnce(&mut Node) + Send + 'static) -> TimerId {
        self.at(self.io.now.plus_ms(ms), then)
    }

    /// Runs `then` once `time` has come; at the end of this step when it is past.
    pub fn at(&mut self, time: Time, then: impl FnOnce(&mut Node) + Send + 'static) -> TimerId {
        self.io.timers.set(time, Box::new(then))
    }

    /// Forgets a timer, also one that has run.
    pub fn cancel(&mut self, timer: TimerId) {
        self.io.timers.cancel(timer);
    }

    /// Runs `then` before this step ends, after what is under way.
    pub fn later(&mut self, then: impl FnOnce(&mut Node) + Send + 'static) {
        self.io.later.push_back(Box::new(then));
    }

    /// Gives the store a command, to be executed after all earlier ones.
    pub fn disk(
        &mut self,
        command: Command,
        then: impl FnOnce(&mut Node, Completion) + Send + 'static,
    ) {
        let op = OpId(self.next_op);
        self.next_op += 1;
        self.disk.insert(op, Box::new(then));
        self.io.out.push(Effect::Disk { op, command });
    }

    /// Takes what follows a disk command.
    pub(crate) fn disk_done(&mut self, op: OpId) -> Then<Completion> {
        self.disk.remove(&op).expect("a disk command completes once")
    }

    /// Sends a request to a broker or controller; `then` runs exactly once, within `timeout_ms`.
    ///
    /// The version is the highest that both sides have. Requests of one channel go out, and are
    /// answered, in order.
    pub fn call<R>(
        &mut self,
        key: ChannelKey,
        request: R,
        timeout_ms: u64,
        then: impl FnOnce(&mut Node, Result<R::Response, CallError>) + Send + 'static,
    ) where
        R: RequestMessage,
        RequestKind: From<R>,
    {
        let api = ApiKey::try_from(R::KEY).expect("a request type has the key of an API");
        let channel = key.clone();
        let decode = move |node: &mut Node, answer: Result<(i16, Bytes), CallError>| {
            let decoded = answer.and_then(|(version, frame)| {
                codec::decode_answer::<R>(version, frame)
                    .map(|(_, body)| body)
                    .map_err(|why| CallError::Malformed(why.to_string()))
            });
            if let Err(error @ CallError::Malformed(_)) = &decoded {
                let kernel = &mut node.kernel;
                kernel.channels.reset(&mut kernel.io, &channel, error);
            }
            then(node, decoded);
        };
        let message = (api, RequestKind::from(request));
        self.channels.call(&mut self.io, key, message, timeout_ms, Box::new(decode));
    }

    /// Closes every channel to this peer, so that the next request looks its address up again.
    pub fn reset_peer(&mut self, peer: Peer) {
        self.channels.reset_peer(&mut self.io, peer);
    }

    /// Answers a request.
    ///
    /// A body that the request's version cannot express is our own defect: it closes the connection
    /// and is logged, so that one bad answer does not end the process. Nor does one that is longer
    /// than any frame.
    pub fn reply(&mut self, token: ReplyToken, body: impl Into<ResponseKind>) {
        match encode(&token, body.into()) {
            Ok(parts) => self.reply_raw(token, parts),
            Err(error) => {
                self.event(Event::Warning { text: error.to_string() });
                self.close(token);
            }
        }
    }

    /// Answers a request with a response frame that is encoded already, header included.
    pub fn reply_raw(&mut self, token: ReplyToken, parts: Vec<Bytes>) {
        if !frame::fits(&parts) {
            let text = format!("an answer to {:?} is longer than any frame", token.api());
            self.event(Event::Warning { text });
            return self.close(token);
        }
        if let Some(envelope) = token.envelope {
            let response = EnvelopeResponse::default().with_response_data(Some(joined(parts)));
            return self.reply(*envelope, response);
        }
        let conn = token.conn;
        if self.connections.finish(self.io.now, conn, token.serial) {
            self.io.out.push(Effect::Send { conn, parts });
        }
    }

    /// Ends a request that has no answer (acks=0).
    pub fn no_reply(&mut self, token: ReplyToken) {
        self.connections.finish(self.io.now, token.conn, token.serial);
    }

    /// Closes the connection instead of answering.
    pub fn close(&mut self, token: ReplyToken) {
        self.connections.close(token.conn, &mut self.io.out);
    }

    /// The next frame to be served.
    pub(crate) fn next_arrival(&mut self) -> Option<Arrival> {
        self.connections.next(&mut self.io.out)
    }
}

fn encode(token: &ReplyToken, body: ResponseKind) -> Result<Vec<Bytes>, EncodeError> {
    let response = Response { correlation_id: token.header.correlation_id, body };
    codec::encode_response(token.api(), token.version(), &response)
}

fn joined(mut parts: Vec<Bytes>) -> Bytes {
    match parts.len() {
        1 => parts.remove(0),
        _ => parts.concat().into(),
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("now", &self.io.now).finish_non_exhaustive()
    }
}
