//! When a client asks for metadata, and whom.

use std::time::Duration;

use highwater_wire::{
    ApiKey, RequestKind, StrBytes,
    messages::{MetadataRequest, TopicName, metadata_request::MetadataRequestTopic},
};

use super::{
    ClientConfig, Effect,
    links::{Call, Happened, Links, Target},
};
use crate::{Catalog, Time};

/// Pause between two metadata requests.
const BACK_OFF: Duration = Duration::from_millis(50);
/// How long an answer may take; any broker can give it from memory.
const PATIENCE: Duration = Duration::from_millis(1_000);
const VERSION: i16 = 12;

/// The refresh of one client's metadata.
///
/// A client stays with the broker that it asked first and turns to the next one only when that one
/// is silent or has nothing new: so a client that is attached to a deposed leader believes it for
/// as long as it answers, as real clients do.
#[derive(Debug)]
pub(super) struct Refresh {
    source: usize,
    sources: usize,
    wanted: bool,
    asked: bool,
    not_before: Time,
}

impl Refresh {
    pub(super) fn new(config: &ClientConfig) -> Refresh {
        let sources = config.bootstrap.len();
        assert!(sources > 0, "a client has a broker to ask first");
        Refresh { source: 0, sources, wanted: true, asked: false, not_before: Time::ZERO }
    }

    /// Something says that what is known is out of date.
    pub(super) fn want(&mut self) {
        self.wanted = true;
    }

    /// Sends a request when one is wanted and due.
    pub(super) fn pump<T: Copy>(
        &mut self,
        now: Time,
        config: &ClientConfig,
        tag: T,
        links: &mut Links<T>,
        out: &mut Vec<Effect>,
    ) -> Option<Happened<T>> {
        if !self.wanted || self.asked || now < self.not_before {
            return None;
        }
        self.asked = true;
        let body = RequestKind::Metadata(request(&config.catalog));
        let deadline = now + PATIENCE;
        let call =
            Call { tag, api: ApiKey::Metadata, version: VERSION, body, deadline, answered: true };
        links.call((Target::Bootstrap(self.source), &config.bootstrap[self.source]), call, out)
    }

    /// The answer came; `news` tells whether it changed anything.
    pub(super) fn answered(&mut self, now: Time, news: bool) {
        self.asked = false;
        self.wanted = false;
        self.not_before = now + BACK_OFF;
        if !news {
            self.turn();
        }
    }

    /// The request was lost.
    pub(super) fn lost(&mut self, now: Time) {
        self.asked = false;
        self.not_before = now + BACK_OFF;
        self.turn();
    }

    /// When [`Refresh::pump`] has something to do.
    pub(super) fn next_wake(&self) -> Option<Time> {
        (self.wanted && !self.asked).then_some(self.not_before)
    }

    fn turn(&mut self) {
        self.source = (self.source + 1) % self.sources;
    }
}

fn request(catalog: &Catalog) -> MetadataRequest {
    let topic = |name: &str| {
        let name = TopicName(StrBytes::from_string(name.to_owned()));
        MetadataRequestTopic::default().with_name(Some(name))
    };
    let topics = catalog.topics().iter().map(|t| topic(&t.name)).collect();
    MetadataRequest::default().with_topics(Some(topics)).with_allow_auto_topic_creation(false)
}
