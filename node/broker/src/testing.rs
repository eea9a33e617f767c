//! A bench for tests within this crate: one node, its effects, and hand-made peers.

use bytes::Bytes;
use highwater_node_core::rule::Rules;
use highwater_node_core::types::{BrokerId, Time};
use highwater_wire::messages::api_versions_response::{ApiVersion, ApiVersionsResponse};
use highwater_wire::messages::{ApiVersionsRequest, RequestMessage};
use highwater_wire::{
    ApiKey, Request, RequestHeader, RequestKind, Response, ResponseKind, codec, versions,
};

use crate::config::{ListenerConfig, NodeConfig};
use crate::connection::ListenerKind;
use crate::effect::{ConnId, Effect, Effects, Input};
use crate::node::Node;
use crate::reply::ReplyToken;

/// A node under test.
pub(crate) struct Bench {
    pub(crate) node: Node,
    pub(crate) now: Time,
    /// What came out and was not looked at yet.
    pub(crate) out: Effects,
}

/// The configuration of broker 1 of a cluster whose controller is node 9.
pub(crate) fn broker_config() -> NodeConfig {
    let listener = ListenerConfig {
        name: "PLAINTEXT".into(),
        host: "127.0.0.1".into(),
        port: 9092,
        advertised_host: "127.0.0.1".into(),
        advertised_port: 9092,
    };
    NodeConfig {
        node_id: BrokerId(1),
        is_broker: true,
        is_controller: false,
        cluster_id: "cluster".into(),
        listeners: vec![listener],
        voters: [(BrokerId(9), "127.0.0.1:9093".to_owned())].into(),
        ..NodeConfig::default()
    }
}

impl Bench {
    /// A broker that was not started, so that nothing happens by itself.
    pub(crate) fn broker() -> Bench {
        Bench::new(broker_config())
    }

    pub(crate) fn new(config: NodeConfig) -> Bench {
        let node = Node::new(config, Rules::default(), 7);
        Bench { node, now: Time(0), out: Vec::new() }
    }

    pub(crate) fn step(&mut self, input: Input) {
        self.node.step(self.now, input, &mut self.out);
    }

    /// Lets time pass, with all the ticks that the node asks for.
    pub(crate) fn pass_ms(&mut self, ms: u64) {
        let end = self.now.plus_ms(ms);
        while let Some(wake) = self.node.next_wake().filter(|wake| *wake <= end) {
            self.now = wake.max(self.now);
            self.step(Input::Tick);
        }
        self.now = end;
    }

    pub(crate) fn accept(&mut self, conn: u64) {
        let (listener, peer) = ("PLAINTEXT".to_owned(), "127.0.0.1:5".to_owned());
        self.step(Input::Accepted { conn: ConnId(conn), listener, peer });
    }

    /// Sends a request as a client; the correlation id is the connection's number.
    pub(crate) fn request(&mut self, conn: u64, api: ApiKey, version: i16, body: RequestKind) {
        let header = RequestHeader { api, version, correlation_id: conn as i32, client_id: None };
        let frame = codec::encode_request(&header, &body).unwrap();
        self.frame(conn, frame);
    }

    pub(crate) fn frame(&mut self, conn: u64, frame: Bytes) {
        self.step(Input::Frame { conn: ConnId(conn), frame });
    }

    /// Takes all effects out.
    pub(crate) fn take(&mut self) -> Effects {
        std::mem::take(&mut self.out)
    }

    /// Takes all frames out that were sent by this connection, and drops other effects.
    pub(crate) fn sent(&mut self, conn: u64) -> Vec<Bytes> {
        let frames = self.take().into_iter().filter_map(|effect| match effect {
            Effect::Send { conn: to, parts } if to.0 == conn => Some(Bytes::from(parts.concat())),
            _ => None,
        });
        frames.collect()
    }

    /// True when the node closed this connection; drops all effects.
    pub(crate) fn closed(&mut self, conn: u64) -> bool {
        let closes = |effect: &Effect| matches!(effect, Effect::Close { conn: to } if to.0 == conn);
        self.take().iter().any(closes)
    }

    /// Opens the connection that the node wants to dial, and answers its question for versions.
    pub(crate) fn open_dialed(&mut self) -> u64 {
        let conn = self.dialed().expect("the node dials");
        self.step(Input::Dialed { conn: ConnId(conn), open: true });
        let asked = self.sent(conn);
        let [asked] = &asked[..] else { panic!("one request, not {}", asked.len()) };
        let request = codec::decode_request(asked.clone()).unwrap();
        let body = all_versions();
        self.answer::<ApiVersionsRequest>(conn, &request, body);
        conn
    }

    /// The connection that the node wants to dial; other effects are dropped.
    pub(crate) fn dialed(&mut self) -> Option<u64> {
        self.take().into_iter().find_map(|effect| match effect {
            Effect::Dial { conn, .. } => Some(conn.0),
            _ => None,
        })
    }

    /// The one request that the node sent by this connection.
    pub(crate) fn asked(&mut self, conn: u64) -> Request {
        let sent = self.sent(conn);
        let [frame] = &sent[..] else { panic!("one request, not {}", sent.len()) };
        codec::decode_request(frame.clone()).unwrap()
    }

    /// Answers a request of the node as its peer.
    pub(crate) fn answer<R: RequestMessage>(
        &mut self,
        conn: u64,
        request: &Request,
        body: R::Response,
    ) where
        ResponseKind: From<R::Response>,
    {
        let header = &request.header;
        let response = Response { correlation_id: header.correlation_id, body: body.into() };
        let parts = codec::encode_response(header.api, header.version, &response).unwrap();
        self.frame(conn, parts.concat().into());
    }
}

/// The right to answer the first request of a connection.
pub(crate) fn token(conn: u64, api: ApiKey, version: i16) -> ReplyToken {
    ReplyToken {
        conn: ConnId(conn),
        serial: 0,
        header: RequestHeader { api, version, correlation_id: conn as i32, client_id: None },
        listener: ListenerKind::Broker,
        listener_name: "PLAINTEXT".to_owned(),
        envelope: None,
    }
}

fn all_versions() -> ApiVersionsResponse {
    let apis = (0..100).filter_map(|key| ApiKey::try_from(key).ok());
    let row = |api| {
        let range = versions::supported(api);
        ApiVersion::default()
            .with_api_key(api as i16)
            .with_min_version(range.min)
            .with_max_version(range.max)
    };
    ApiVersionsResponse::default().with_api_keys(apis.map(row).collect())
}
