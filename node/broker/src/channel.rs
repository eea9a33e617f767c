//! Connections that we open to brokers and controllers: requests out, answers matched to them.
//!
//! A channel is opened when something is to be sent, asks for the peer's versions first, and keeps
//! several requests in flight; answers come in order. A time-out closes it, as Kafka's client does.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::ApiVersionsRequest;
use highwater_wire::messages::api_versions_response::ApiVersion;
use highwater_wire::versions::{self, VersionRange};
use highwater_wire::{ApiKey, RequestHeader, RequestKind, StrBytes, codec};
use thiserror::Error;

use crate::effect::{ConnId, Effect};
use crate::kernel::{Io, Then};
use crate::node::Node;
use crate::timers::TimerId;

/// How long a channel waits after a failed or lost connection before it dials again.
const RECONNECT_BACKOFF_MS: u64 = 50;
/// The version in which a peer is asked for its versions; every broker since 2.4 knows it.
const API_VERSIONS_VERSION: i16 = 3;

/// Whom a channel leads to; the address is looked up at each dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// The broker of this id, by its inter-broker listener.
    Broker(BrokerId),
    /// Whoever is the active controller.
    Controller,
}

/// One channel: to whom and what for, so that one purpose never waits behind another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelKey {
    /// Whom it leads to.
    pub peer: Peer,
    /// What for; the client id is `broker-N-LANE`.
    pub lane: &'static str,
}

/// Why a call got no answer. Whether the peer did what was asked is unknown but for `Unreachable`
/// and `Unsupported`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The connection could not be opened, or nobody knows the peer's address: nothing was sent.
    #[error("the peer cannot be reached")]
    Unreachable,
    /// The peer has no version of this API that we have: nothing was sent.
    #[error("the peer does not serve this request in a version that we know")]
    Unsupported,
    /// The connection ended before the answer.
    #[error("the connection was lost")]
    Disconnected,
    /// No answer in time; the connection was closed.
    #[error("no answer in time")]
    TimedOut,
    /// The answer could not be read; the connection was closed.
    #[error("the answer could not be read: {0}")]
    Malformed(String),
}

/// What a call gave: the version that was spoken and the response frame.
pub(crate) type RawAnswer = Result<(i16, Bytes), CallError>;

struct Call {
    body: RequestKind,
    api: ApiKey,
    timer: TimerId,
    then: Then<RawAnswer>,
}

struct InFlight {
    correlation_id: i32,
    version: i16,
    call: Call,
}

enum State {
    /// Not connected, nothing to send.
    Idle,
    /// To be dialled within this step.
    Wanted,
    /// Not to be dialled yet.
    BackingOff,
    Dialing {
        conn: ConnId,
    },
    Negotiating {
        conn: ConnId,
    },
    Open {
        conn: ConnId,
        versions: BTreeMap<i16, VersionRange>,
    },
}

struct Channel {
    client_id: StrBytes,
    state: State,
    queue: VecDeque<Call>,
    in_flight: VecDeque<InFlight>,
    next_correlation_id: i32,
}

/// All channels of a node.
pub(crate) struct Channels {
    node: BrokerId,
    all: BTreeMap<ChannelKey, Channel>,
    by_conn: BTreeMap<ConnId, ChannelKey>,
    /// Channels that want to be dialled, in the order in which they came to want it.
    wanted: VecDeque<ChannelKey>,
    /// The node's own connection numbers are odd.
    next_conn: u64,
}

impl Channels {
    pub(crate) fn new(node: BrokerId) -> Channels {
        Channels {
            node,
            all: BTreeMap::new(),
            by_conn: BTreeMap::new(),
            wanted: VecDeque::new(),
            next_conn: 1,
        }
    }

    /// Sends a request as soon as the channel is open; `then` runs exactly once, in time.
    pub(crate) fn call(
        &mut self,
        io: &mut Io,
        key: ChannelKey,
        (api, body): (ApiKey, RequestKind),
        timeout_ms: u64,
        then: Then<RawAnswer>,
    ) {
        let node = self.node;
        let expired = key.clone();
        let timer = io.timers.set_with(io.now.plus_ms(timeout_ms), |timer| {
            Box::new(move |node: &mut Node| {
                let kernel = &mut node.kernel;
                kernel.channels.expire(&mut kernel.io, &expired, timer);
            })
        });
        let channel = self.all.entry(key.clone()).or_insert_with(|| Channel::new(node, key.lane));
        channel.queue.push_back(Call { body, api, timer, then });
        match channel.state {
            State::Open { .. } => channel.flush(io),
            State::Idle => {
                channel.state = State::Wanted;
                self.wanted.push_back(key);
            }
            _ => {}
        }
    }

    /// The next channel that wants to be dialled.
    pub(crate) fn next_wanted(&mut self) -> Option<ChannelKey> {
        self.wanted.pop_front()
    }

    /// Dials; without an address all that waits fails as unreachable.
    pub(crate) fn dial(&mut self, io: &mut Io, key: ChannelKey, address: Option<String>) {
        let Some(address) = address else {
            return self.lose(io, &key, &CallError::Unreachable);
        };
        let conn = ConnId(self.next_conn);
        self.next_conn += 2;
        self.channel(&key).state = State::Dialing { conn };
        self.by_conn.insert(conn, key);
        io.out.push(Effect::Dial { conn, address });
    }

    /// The dial ended.
    pub(crate) fn dialed(&mut self, io: &mut Io, conn: ConnId, open: bool) {
        let Some(key) = self.by_conn.get(&conn).cloned() else {
            // The channel was reset while this was dialled.
            if open {
                io.out.push(Effect::Close { conn });
            }
            return;
        };
        if open {
            self.channel(&key).negotiate(io, conn);
        } else {
            self.by_conn.remove(&conn);
            self.lose(io, &key, &CallError::Unreachable);
        }
    }

    /// Takes an answer; true when the connection is one of these.
    pub(crate) fn receive(&mut self, io: &mut Io, conn: ConnId, frame: Bytes) -> bool {
        let Some(key) = self.by_conn.get(&conn).cloned() else { return false };
        if let Err(error) = self.channel(&key).receive(io, frame) {
            self.reset(io, &key, &error);
        }
        true
    }

    /// The connection is gone; true when it was one of these.
    pub(crate) fn closed(&mut self, io: &mut Io, conn: ConnId) -> bool {
        let Some(key) = self.by_conn.remove(&conn) else { return false };
        self.lose(io, &key, &CallError::Disconnected);
        true
    }

    /// Closes every channel to this peer; what is under way ends as disconnected.
    pub(crate) fn reset_peer(&mut self, io: &mut Io, peer: Peer) {
        let keys: Vec<ChannelKey> =
            self.all.keys().filter(|key| key.peer == peer).cloned().collect();
        for key in keys {
            self.reset(io, &key, &CallError::Disconnected);
        }
    }

    /// Closes a channel; what is under way ends with this error.
    pub(crate) fn reset(&mut self, io: &mut Io, key: &ChannelKey, error: &CallError) {
        let Some(conn) = self.all.get(key).and_then(Channel::conn) else { return };
        self.by_conn.remove(&conn);
        io.out.push(Effect::Close { conn });
        self.lose(io, key, error);
    }

    /// The channel has no connection any more: what waits ends, and a pause begins.
    fn lose(&mut self, io: &mut Io, key: &ChannelKey, error: &CallError) {
        let channel = self.channel(key);
        channel.fail_all(io, error);
        let until = io.now.plus_ms(RECONNECT_BACKOFF_MS);
        channel.state = State::BackingOff;
        let key = key.clone();
        io.timers
            .set(until, Box::new(move |node: &mut Node| node.kernel.channels.end_backoff(key)));
    }

    fn end_backoff(&mut self, key: ChannelKey) {
        let channel = self.channel(&key);
        debug_assert!(matches!(channel.state, State::BackingOff), "one pause at a time");
        if channel.queue.is_empty() {
            channel.state = State::Idle;
        } else {
            channel.state = State::Wanted;
            self.wanted.push_back(key);
        }
    }

    /// The call with this timer took too long: it ends, and so does the connection it waits on.
    fn expire(&mut self, io: &mut Io, key: &ChannelKey, timer: TimerId) {
        let Some(call) = self.channel(key).take_call(timer) else { return };
        call.finish(io, Err(CallError::TimedOut));
        self.reset(io, key, &CallError::Disconnected);
    }

    fn channel(&mut self, key: &ChannelKey) -> &mut Channel {
        self.all.get_mut(key).expect("a channel stays once it was called")
    }
}

impl Channel {
    fn new(node: BrokerId, lane: &str) -> Channel {
        Channel {
            client_id: StrBytes::from_string(format!("broker-{node}-{lane}")),
            state: State::Idle,
            queue: VecDeque::new(),
            in_flight: VecDeque::new(),
            next_correlation_id: 0,
        }
    }

    fn conn(&self) -> Option<ConnId> {
        match self.state {
            State::Dialing { conn } | State::Negotiating { conn } | State::Open { conn, .. } => {
                Some(conn)
            }
            State::Idle | State::Wanted | State::BackingOff => None,
        }
    }

    fn header(&mut self, api: ApiKey, version: i16) -> RequestHeader {
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.wrapping_add(1);
        RequestHeader { api, version, correlation_id, client_id: Some(self.client_id.clone()) }
    }

    /// Asks the peer for its versions.
    fn negotiate(&mut self, io: &mut Io, conn: ConnId) {
        self.state = State::Negotiating { conn };
        let header = self.header(ApiKey::ApiVersions, API_VERSIONS_VERSION);
        let body = ApiVersionsRequest::default()
            .with_client_software_name(StrBytes::from_static_str("highwater"))
            .with_client_software_version(StrBytes::from_static_str(env!("CARGO_PKG_VERSION")));
        let frame = codec::encode_request(&header, &body.into())
            .expect("a request of constants can be encoded");
        io.out.push(Effect::Send { conn, parts: vec![frame] });
    }

    fn receive(&mut self, io: &mut Io, frame: Bytes) -> Result<(), CallError> {
        match self.state {
            State::Negotiating { conn } => {
                let versions = peer_versions(frame)?;
                self.state = State::Open { conn, versions };
                self.flush(io);
                Ok(())
            }
            State::Open { .. } => self.complete(io, frame),
            _ => Ok(()),
        }
    }

    /// Sends all that waits.
    fn flush(&mut self, io: &mut Io) {
        while let Some(call) = self.queue.pop_front() {
            let State::Open { conn, versions } = &self.state else {
                unreachable!("only an open channel is flushed")
            };
            let (conn, theirs) = (*conn, versions.get(&(call.api as i16)));
            let ours = versions::supported(call.api);
            let Some(version) = theirs.and_then(|theirs| ours.highest_common(*theirs)) else {
                call.finish(io, Err(CallError::Unsupported));
                continue;
            };
            let header = self.header(call.api, version);
            match codec::encode_request(&header, &call.body) {
                Ok(frame) => {
                    io.out.push(Effect::Send { conn, parts: vec![frame] });
                    let correlation_id = header.correlation_id;
                    self.in_flight.push_back(InFlight { correlation_id, version, call });
                }
                Err(_) => call.finish(io, Err(CallError::Unsupported)),
            }
        }
    }

    /// Gives an answer to the oldest request under way.
    fn complete(&mut self, io: &mut Io, frame: Bytes) -> Result<(), CallError> {
        let found = frame.first_chunk().map(|id| i32::from_be_bytes(*id));
        let wanted = self.in_flight.front().map(|oldest| oldest.correlation_id);
        if found.is_none() || found != wanted {
            let why = format!("expected the answer to request {wanted:?}, got {found:?}");
            return Err(CallError::Malformed(why));
        }
        let InFlight { version, call, .. } =
            self.in_flight.pop_front().expect("the oldest request was just seen");
        call.finish(io, Ok((version, frame)));
        Ok(())
    }

    fn fail_all(&mut self, io: &mut Io, error: &CallError) {
        for in_flight in self.in_flight.drain(..) {
            in_flight.call.finish(io, Err(error.clone()));
        }
        for call in self.queue.drain(..) {
            call.finish(io, Err(CallError::Unreachable));
        }
    }

    fn take_call(&mut self, timer: TimerId) -> Option<Call> {
        if let Some(at) = self.queue.iter().position(|call| call.timer == timer) {
            return self.queue.remove(at);
        }
        let at = self.in_flight.iter().position(|sent| sent.call.timer == timer)?;
        self.in_flight.remove(at).map(|sent| sent.call)
    }
}

impl Call {
    fn finish(self, io: &mut Io, answer: RawAnswer) {
        io.timers.cancel(self.timer);
        let then = self.then;
        io.later.push_back(Box::new(move |node: &mut Node| then(node, answer)));
    }
}

fn peer_versions(frame: Bytes) -> Result<BTreeMap<i16, VersionRange>, CallError> {
    let (_, answer) = codec::decode_answer::<ApiVersionsRequest>(API_VERSIONS_VERSION, frame)
        .map_err(|why| CallError::Malformed(why.to_string()))?;
    let range = |api: &ApiVersion| VersionRange { min: api.min_version, max: api.max_version };
    Ok(answer.api_keys.iter().map(|api| (api.api_key, range(api))).collect())
}

#[cfg(test)]
mod tests;
