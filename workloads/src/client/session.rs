//! What producers and consumers share: settings, connections, and the leaders that they know of.

use highwater_wire::ResponseKind;

use super::{
    ClientConfig, Effect, Input, Slot,
    cluster::Cluster,
    links::{Happened, Links},
    metadata::Refresh,
};
use crate::{Op, Time};

/// A client's way to the brokers; `T` names a request to the client.
#[derive(Debug)]
pub(super) struct Session<T> {
    pub config: ClientConfig,
    pub links: Links<T>,
    pub cluster: Cluster,
    pub refresh: Refresh,
}

/// What an input is about.
#[derive(Debug)]
pub(super) enum Told<T> {
    /// The client begins.
    Start,
    /// An operation for the client.
    Operate(Slot, Op),
    /// What became of requests.
    Requests(Vec<Happened<T>>),
}

impl<T: Copy> Session<T> {
    pub(super) fn new(config: ClientConfig) -> Session<T> {
        Session {
            links: Links::new(&config.client_id),
            cluster: Cluster::default(),
            refresh: Refresh::new(&config),
            config,
        }
    }

    /// Takes what the network and the clock tell, and passes on what is the client's own affair.
    pub(super) fn take(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) -> Told<T> {
        Told::Requests(match input {
            Input::Start => return Told::Start,
            Input::Operate(slot, op) => return Told::Operate(slot, op),
            Input::Connected(conn) => {
                self.links.connected(conn, out);
                Vec::new()
            }
            Input::Written(conn, out) => self.links.written(conn, out),
            Input::Frame(conn, frame) => self.links.frame(conn, frame, out),
            Input::Closed(conn) => {
                // At acks=0 this is all that a deposed leader says (rule 36).
                self.refresh.want();
                self.links.closed(conn)
            }
            Input::Tick => self.links.expire(now, out),
        })
    }

    /// An answer to a metadata request came.
    pub(super) fn learn(&mut self, now: Time, answer: &ResponseKind) {
        let ResponseKind::Metadata(answer) = answer else { return self.refresh.lost(now) };
        let news = self.cluster.learn(&self.config.catalog, answer);
        self.refresh.answered(now, news);
    }

    /// Asks for metadata, as a request with this name, when that is wanted and due.
    pub(super) fn ask_metadata(&mut self, now: Time, tag: T, out: &mut Vec<Effect>) {
        self.refresh.pump(now, &self.config, tag, &mut self.links, out);
    }

    /// When the next tick is due for what the session does by itself.
    pub(super) fn next_wake(&self) -> Option<Time> {
        self.links.next_deadline().into_iter().chain(self.refresh.next_wake()).min()
    }
}
