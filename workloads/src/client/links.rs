//! A client's connections: requests out, answers matched by correlation id, losses and time-outs.
//!
//! A connection is of use once its broker answered ApiVersions, as with Kafka's clients: a socket
//! that was accepted and then closed has carried nothing, so what waited for it was not sent.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use highwater_wire::{
    ApiKey, RequestHeader, RequestKind, ResponseKind, StrBytes, codec, messages::ApiVersionsRequest,
};

use super::{Address, Conn, Effect, versions::Newest};
use crate::{Time, op::code};

/// The version of ApiVersions that connections begin with.
const GREETING: i16 = 3;

/// Whom a connection leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A broker by the position of its address in the bootstrap list.
    Bootstrap(usize),
    /// A broker by its id.
    Node(i32),
}

/// A request on its way or waiting for its connection.
#[derive(Debug)]
struct Pending<T> {
    tag: T,
    api: ApiKey,
    version: i16,
    deadline: Time,
}

/// A request whose connection does not stand yet.
#[derive(Debug)]
struct Waiting<T> {
    header: RequestHeader,
    call: Call<T>,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Dialing,
    /// The first request, with this correlation id, waits for its answer.
    Greeting(i32),
    Up,
}

#[derive(Debug)]
struct Link<T> {
    target: Target,
    stage: Stage,
    /// What its broker speaks.
    newest: Newest,
    waiting: Vec<Waiting<T>>,
    in_flight: BTreeMap<i32, Pending<T>>,
    /// How many requests were handed over.
    sent: u64,
    /// Requests that get no answer and whose bytes are not known to be out, with their numbers
    /// among all that were handed over.
    unwritten: VecDeque<(u64, T)>,
}

/// A request and its bounds.
#[derive(Debug)]
pub(super) struct Call<T> {
    /// Comes back with the answer or the loss.
    pub tag: T,
    pub api: ApiKey,
    /// The newest version that the answer may be in.
    pub version: i16,
    pub body: RequestKind,
    /// When to give up; the connection is given up with it.
    pub deadline: Time,
    /// Whether the broker answers: false for Produce at acks=0.
    pub answered: bool,
}

/// Something that became of a request.
#[derive(Debug)]
pub(super) enum Happened<T> {
    /// The bytes are handed over.
    Sent(T),
    /// The bytes of a request without an answer are with the kernel.
    Written(T),
    /// The answer.
    Answer(T, Box<ResponseKind>),
    /// No answer will come; the code says why.
    Lost(T, &'static str),
    /// It never left.
    NotSent(T, &'static str),
}

/// All connections of one client; `T` names a request to its owner.
#[derive(Debug)]
pub(super) struct Links<T> {
    client_id: StrBytes,
    next_conn: u32,
    next_correlation_id: i32,
    conns: BTreeMap<Target, Conn>,
    links: BTreeMap<Conn, Link<T>>,
}

impl<T: Copy> Links<T> {
    pub(super) fn new(client_id: &str) -> Links<T> {
        Links {
            client_id: StrBytes::from_string(client_id.to_owned()),
            next_conn: 0,
            next_correlation_id: 0,
            conns: BTreeMap::new(),
            links: BTreeMap::new(),
        }
    }

    /// Sends a request to `target` at `address`, dialing first where no connection stands.
    pub(super) fn call(
        &mut self,
        (target, address): (Target, &Address),
        call: Call<T>,
        out: &mut Vec<Effect>,
    ) -> Option<Happened<T>> {
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.wrapping_add(1);
        let header = RequestHeader {
            api: call.api,
            version: call.version,
            correlation_id,
            client_id: Some(self.client_id.clone()),
        };
        let conn = self.dial(target, address, out);
        let link = self.links.get_mut(&conn).expect("a dialed connection has a link");
        let waiting = Waiting { header, call };
        if link.stage == Stage::Up {
            return Some(link.send(conn, waiting, out));
        }
        link.waiting.push(waiting);
        None
    }

    fn dial(&mut self, target: Target, address: &Address, out: &mut Vec<Effect>) -> Conn {
        if let Some(conn) = self.conns.get(&target) {
            return *conn;
        }
        let conn = Conn(self.next_conn);
        self.next_conn += 1;
        out.push(Effect::Connect(conn, address.clone()));
        self.conns.insert(target, conn);
        self.links.insert(conn, Link::new(target));
        conn
    }

    /// The socket stands: its broker is greeted.
    pub(super) fn connected(&mut self, conn: Conn, out: &mut Vec<Effect>) {
        let Some(link) = self.links.get_mut(&conn) else { return };
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.wrapping_add(1);
        link.stage = Stage::Greeting(correlation_id);
        link.sent += 1;
        out.push(Effect::Send(conn, greeting(correlation_id, &self.client_id)));
    }

    /// The first `out` requests handed over are with the kernel; those behind them may have been
    /// handed over since.
    pub(super) fn written(&mut self, conn: Conn, out: u64) -> Vec<Happened<T>> {
        let Some(link) = self.links.get_mut(&conn) else { return Vec::new() };
        let upto = link.unwritten.partition_point(|(number, _)| *number <= out);
        link.unwritten.drain(..upto).map(|(_, tag)| Happened::Written(tag)).collect()
    }

    /// An answer came. One that cannot be read, or that nobody asked for, ends the connection.
    pub(super) fn frame(
        &mut self,
        conn: Conn,
        frame: Bytes,
        out: &mut Vec<Effect>,
    ) -> Vec<Happened<T>> {
        let Some(link) = self.links.get_mut(&conn) else { return Vec::new() };
        let id = frame.first_chunk().map(|id| i32::from_be_bytes(*id));
        if link.stage != Stage::Up && id.map(Stage::Greeting) == Some(link.stage) {
            link.stage = Stage::Up;
            link.newest = Newest::of(GREETING, frame);
            let waiting = std::mem::take(&mut link.waiting);
            return waiting.into_iter().map(|waiting| link.send(conn, waiting, out)).collect();
        }
        let answer = id.and_then(|id| link.in_flight.remove(&id)).and_then(|pending| {
            match codec::decode_response(pending.api, pending.version, frame) {
                Ok(response) => Some(Happened::Answer(pending.tag, Box::new(response.body))),
                Err(_) => {
                    link.in_flight.insert(id?, pending);
                    None
                }
            }
        });
        match answer {
            Some(answer) => vec![answer],
            None => {
                out.push(Effect::Close(conn));
                self.drop_link(conn, code::MALFORMED_ANSWER)
            }
        }
    }

    /// The connection is gone, and with it everything on it.
    pub(super) fn closed(&mut self, conn: Conn) -> Vec<Happened<T>> {
        self.drop_link(conn, code::CONNECTION_LOST)
    }

    /// Gives up each connection on which a request is over its deadline, as Kafka's clients do: its
    /// answers come in order, so those behind the late one are late as well.
    pub(super) fn expire(&mut self, now: Time, out: &mut Vec<Effect>) -> Vec<Happened<T>> {
        let late = |link: &Link<T>| link.deadline().is_some_and(|deadline| deadline <= now);
        let conns: Vec<Conn> =
            self.links.iter().filter(|(_, link)| late(link)).map(|(conn, _)| *conn).collect();
        let mut happened = Vec::new();
        for conn in conns {
            out.push(Effect::Close(conn));
            happened.extend(self.drop_link(conn, code::TIMEOUT));
        }
        happened
    }

    /// The earliest deadline of any request.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.links.values().filter_map(Link::deadline).min()
    }

    /// Closes every connection.
    pub(super) fn close_all(&mut self, out: &mut Vec<Effect>) {
        out.extend(self.links.keys().map(|conn| Effect::Close(*conn)));
        self.links.clear();
        self.conns.clear();
    }

    fn drop_link(&mut self, conn: Conn, why: &'static str) -> Vec<Happened<T>> {
        let Some(link) = self.links.remove(&conn) else { return Vec::new() };
        self.conns.remove(&link.target);
        let lost = link.in_flight.into_values().map(|pending| Happened::Lost(pending.tag, why));
        let unwritten = link.unwritten.into_iter().map(|(_, tag)| Happened::Lost(tag, why));
        let unsent = link.waiting.into_iter().map(|waiting| waiting.call.tag);
        let unsent = unsent.map(|tag| Happened::NotSent(tag, code::CONNECT_FAILED));
        lost.chain(unwritten).chain(unsent).collect()
    }
}

/// ApiVersions: any broker answers it at once.
fn greeting(correlation_id: i32, client_id: &StrBytes) -> Bytes {
    let header = RequestHeader {
        api: ApiKey::ApiVersions,
        version: GREETING,
        correlation_id,
        client_id: Some(client_id.clone()),
    };
    let request = ApiVersionsRequest::default()
        .with_client_software_name(StrBytes::from_static_str("highwater"))
        .with_client_software_version(StrBytes::from_static_str(env!("CARGO_PKG_VERSION")));
    codec::encode_request(&header, &RequestKind::ApiVersions(request))
        .expect("version 3 has all that is set")
}

impl<T: Copy> Link<T> {
    fn new(target: Target) -> Link<T> {
        Link {
            target,
            stage: Stage::Dialing,
            newest: Newest::default(),
            waiting: Vec::new(),
            in_flight: BTreeMap::new(),
            sent: 0,
            unwritten: VecDeque::new(),
        }
    }

    fn send(&mut self, conn: Conn, waiting: Waiting<T>, out: &mut Vec<Effect>) -> Happened<T> {
        let Waiting { header, call: Call { tag, api, deadline, body, answered, .. } } = waiting;
        let (version, frame) = self.newest.encode(&header, &body);
        out.push(Effect::Send(conn, frame));
        self.sent += 1;
        if answered {
            let pending = Pending { tag, api, version, deadline };
            let old = self.in_flight.insert(header.correlation_id, pending);
            debug_assert!(old.is_none(), "a correlation id is in flight once");
        } else {
            self.unwritten.push_back((self.sent, tag));
        }
        Happened::Sent(tag)
    }

    fn deadline(&self) -> Option<Time> {
        // Deadlines grow with correlation ids but for requests of different kinds, so look at all.
        let waiting = self.waiting.iter().map(|waiting| waiting.call.deadline);
        self.in_flight.values().map(|pending| pending.deadline).chain(waiting).min()
    }
}
