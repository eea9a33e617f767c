//! A whole node: one process that is broker, controller or both, without I/O.

use std::sync::Arc;

use highwater_node_core::metadata::Image;
use highwater_node_core::rule::Rules;
use highwater_node_core::types::{BrokerId, Time};
use highwater_wire::codec::{self, DecodeError};
use highwater_wire::{ApiKey, Request};

use crate::api;
use crate::broker::{BrokerRole, lifecycle};
use crate::channel::Peer;
use crate::config::NodeConfig;
use crate::connection::{Arrival, ListenerKind};
use crate::controller::{ControllerRole, fetch};
use crate::effect::{ConnId, Effects, Input};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::replicas::waits;
use crate::reply::ReplyToken;
use crate::startup::give_up;
use crate::{forward, startup};

/// How often idle connections are looked for.
const IDLE_SWEEP_MS: u64 = 60_000;

/// One process: what the shell and the simulator drive.
#[derive(Debug)]
pub struct Node {
    /// What it was told at its start.
    pub config: Arc<NodeConfig>,
    /// The rules that its machines follow; the default is the contract.
    pub rules: Rules,
    /// Time, effects, connections.
    pub kernel: Kernel,
    /// Its part as a broker.
    pub broker: Option<BrokerRole>,
    /// Its part as a controller.
    pub controller: Option<ControllerRole>,
}

impl Node {
    /// A node that has done nothing yet. `seed` decides all its random choices, such as ids.
    pub fn new(config: NodeConfig, rules: Rules, seed: u64) -> Node {
        let mut kernel = Kernel::new(&config, seed);
        let config = Arc::new(config);
        let broker = config.is_broker.then(|| BrokerRole::new(&config, &mut kernel));
        let controller =
            config.is_controller.then(|| ControllerRole::new(&config, rules, &mut kernel));
        Node { config, rules, kernel, broker, controller }
    }

    /// Takes one input at one time; what is to be done is added to `out`, in order.
    ///
    /// `now` never steps back. All that follows from the input without further input happens here.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Effects) {
        debug_assert!(self.kernel.io.now <= now, "time never steps back");
        self.kernel.io.now = now;
        self.take(input);
        self.settle();
        out.append(&mut self.kernel.io.out);
    }

    /// When [`Input::Tick`] is wanted at the latest; `None` when only other inputs matter.
    pub fn next_wake(&self) -> Option<Time> {
        self.kernel.io.timers.next()
    }

    fn take(&mut self, input: Input) {
        let kernel = &mut self.kernel;
        match input {
            Input::Start => self.start(),
            Input::Accepted { conn, listener, peer } => self.accept(conn, listener, peer),
            Input::Dialed { conn, open } => kernel.channels.dialed(&mut kernel.io, conn, open),
            Input::Frame { conn, frame } => {
                if !kernel.channels.receive(&mut kernel.io, conn, frame.clone()) {
                    let now = kernel.io.now;
                    kernel.connections.receive(now, conn, frame, &mut kernel.io.out);
                }
            }
            Input::Closed { conn } => self.closed(conn),
            Input::Disk { op, done } => {
                let then = kernel.disk_done(op);
                then(self, done);
            }
            Input::DiskFailed { error } => give_up(self, &error),
            Input::Tick => {}
            Input::Shutdown => self.shut_down(),
        }
    }

    /// Does what has become due, until nothing is.
    fn settle(&mut self) {
        loop {
            if let Some(then) = self.kernel.io.later.pop_front() {
                then(self);
            } else if let Some(then) = self.kernel.io.timers.due(self.kernel.io.now) {
                then(self);
            } else if let Some(key) = self.kernel.channels.next_wanted() {
                let address = self.address_of(key.peer);
                self.kernel.channels.dial(&mut self.kernel.io, key, address);
            } else if let Some(arrival) = self.kernel.next_arrival() {
                self.serve(arrival);
            } else {
                return;
            }
        }
    }

    fn start(&mut self) {
        if self.config.connections_max_idle_ms > 0 {
            self.kernel.after(IDLE_SWEEP_MS, Node::close_idle);
        }
        startup::start(self);
    }

    /// A broker hands over and closes its logs; a controller alone has nothing to hand over.
    fn shut_down(&mut self) {
        match self.broker {
            Some(_) => lifecycle::shut_down(self),
            None => startup::close(self, None),
        }
    }

    fn accept(&mut self, conn: ConnId, listener: String, peer: String) {
        let controller = self.config.is_controller_listener(&listener);
        let kind = if controller { ListenerKind::Controller } else { ListenerKind::Broker };
        let kernel = &mut self.kernel;
        let now = kernel.io.now;
        kernel.connections.accept(now, conn, kind, (listener, peer), &mut kernel.io.out);
    }

    fn closed(&mut self, conn: ConnId) {
        let kernel = &mut self.kernel;
        if !kernel.channels.closed(&mut kernel.io, conn) {
            kernel.connections.forget(conn);
            waits::forget(self, conn);
            fetch::forget(self, conn);
        }
    }

    fn close_idle(&mut self) {
        let kernel = &mut self.kernel;
        kernel.connections.close_idle(kernel.io.now, &mut kernel.io.out);
        kernel.after(IDLE_SWEEP_MS, Node::close_idle);
    }

    /// Decodes one frame and hands it to its API; what cannot be read ends the connection.
    fn serve(&mut self, arrival: Arrival) {
        let Arrival { conn, serial, kind, listener, frame } = arrival;
        let token = |header| ReplyToken {
            conn,
            serial,
            header,
            listener: kind,
            listener_name: listener,
            envelope: None,
        };
        match codec::decode_request(frame.clone()) {
            Ok(Request { header, body }) => {
                let reply = token(header);
                match api::find(reply.api(), kind) {
                    Some(entry) if entry.is_forwarded(kind) => {
                        forward::forward(self, entry, body, frame, reply);
                    }
                    Some(entry) => (entry.handle)(self, body, reply),
                    None => self.refuse(conn, &"this listener does not serve the API"),
                }
            }
            Err(DecodeError::UnsupportedVersion { header })
                if header.api == ApiKey::ApiVersions =>
            {
                api::api_versions::answer_unknown_version(self, token(header));
            }
            Err(error) => self.refuse(conn, &error),
        }
    }

    fn refuse(&mut self, conn: ConnId, why: &dyn std::fmt::Display) {
        let peer = self.kernel.connections.peer(conn).to_owned();
        self.kernel.event(Event::RequestRefused { peer, why: why.to_string() });
        self.kernel.connections.close(conn, &mut self.kernel.io.out);
    }

    /// The committed metadata as this node knows it: a broker's, else a controller's.
    pub fn image(&self) -> &Image {
        match &self.broker {
            Some(broker) => broker.image(),
            None => self.controller().image(),
        }
    }

    /// The active controller, as far as this node knows.
    pub fn active_controller(&self) -> Option<BrokerId> {
        let heard = self.broker.as_ref().and_then(|broker| broker.controller);
        heard.or_else(|| match self.config.voters.len() {
            1 => self.config.voters.keys().next().copied(),
            _ => None,
        })
    }

    /// Where a peer is reached: what it advertises, or for a controller at first contact its place
    /// in `controller.quorum.voters`.
    fn address_of(&self, peer: Peer) -> Option<String> {
        let image = self.broker.as_ref().map(BrokerRole::image);
        match peer {
            Peer::Broker(id) => {
                let broker = image?.brokers.get(&id)?;
                let endpoint = broker.endpoint(&self.config.inter_broker_listener)?;
                Some(format!("{}:{}", endpoint.host, endpoint.port))
            }
            Peer::Controller => {
                let id = self.active_controller()?;
                let registered = image.and_then(|image| image.controllers.get(&id));
                let endpoint = registered.and_then(|controller| {
                    let known = |name: &str| self.config.is_controller_listener(name);
                    controller.endpoints.iter().find(|endpoint| known(&endpoint.listener))
                });
                match endpoint {
                    Some(endpoint) => Some(format!("{}:{}", endpoint.host, endpoint.port)),
                    None => self.config.voters.get(&id).cloned(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
