//! When each broker was last heard of; known to the active controller only.

use std::collections::BTreeMap;

use crate::metadata::Image;
use crate::types::{BrokerEpoch, BrokerId, Offset, Time};

/// The life signs of one registration.
#[derive(Clone, Copy, Debug)]
struct Session {
    epoch: BrokerEpoch,
    last_contact: Time,
    metadata_offset: Offset,
    /// The end of the log when its controlled shutdown began.
    shutdown_at: Option<Offset>,
}

/// The life signs of all brokers.
#[derive(Debug)]
pub(super) struct Sessions {
    timeout_ms: u64,
    brokers: BTreeMap<BrokerId, Session>,
}

impl Sessions {
    /// Every broker that the image takes for live gets a whole session from `now`.
    pub(super) fn of(image: &Image, now: Time, timeout_ms: u64) -> Sessions {
        let mut sessions = Sessions { timeout_ms, brokers: BTreeMap::new() };
        for (&id, broker) in image.brokers.iter().filter(|(_, broker)| !broker.fenced) {
            sessions.touch(now, id, broker.epoch, Offset(-1));
            if broker.in_controlled_shutdown {
                sessions.begin_shutdown(id, image.end);
            }
        }
        sessions
    }

    /// The broker was heard of, having applied the metadata up to this offset.
    pub(super) fn touch(
        &mut self,
        now: Time,
        broker: BrokerId,
        epoch: BrokerEpoch,
        metadata_offset: Offset,
    ) {
        let kept = self.brokers.get(&broker).filter(|session| session.epoch == epoch);
        let shutdown_at = kept.and_then(|session| session.shutdown_at);
        let metadata_offset =
            kept.map_or(metadata_offset, |s| s.metadata_offset.max(metadata_offset));
        let session = Session { epoch, last_contact: now, metadata_offset, shutdown_at };
        self.brokers.insert(broker, session);
    }

    /// The controller did not run for a while: what it could not hear is not held against anyone.
    pub(super) fn forgive(&mut self, now: Time) {
        for session in self.brokers.values_mut() {
            session.last_contact = now;
        }
    }

    /// The broker's session is over.
    pub(super) fn end(&mut self, broker: BrokerId) {
        self.brokers.remove(&broker);
    }

    /// Whether that registration was heard of within the session time-out.
    pub(super) fn is_valid(&self, broker: BrokerId, epoch: BrokerEpoch, now: Time) -> bool {
        let session = self.brokers.get(&broker).filter(|session| session.epoch == epoch);
        session.is_some_and(|session| now < self.expiry(session))
    }

    /// The broker began its controlled shutdown when the log ended at `end`.
    pub(super) fn begin_shutdown(&mut self, broker: BrokerId, end: Offset) {
        if let Some(session) = self.brokers.get_mut(&broker) {
            session.shutdown_at = Some(end);
        }
    }

    /// Whether every active broker has applied that this one is stopping.
    pub(super) fn all_know_of_shutdown(&self, broker: BrokerId, image: &Image) -> bool {
        let stopping = self.brokers.get(&broker).and_then(|session| session.shutdown_at);
        let active = self.brokers.iter().filter(|(id, _)| image.is_active(**id));
        let slowest = active.map(|(_, session)| session.metadata_offset).min();
        stopping.is_none_or(|at| slowest.is_none_or(|slowest| slowest.next() >= at))
    }

    /// The unfenced broker whose session has ended, the one that ended first.
    pub(super) fn expired(&self, image: &Image, now: Time) -> Option<BrokerId> {
        let first = self.unfenced(image).min_by_key(|(_, session)| session.last_contact);
        first.filter(|(_, session)| self.expiry(session) <= now).map(|(id, _)| id)
    }

    /// When the next session of an unfenced broker ends.
    pub(super) fn next_expiry(&self, image: &Image) -> Option<Time> {
        self.unfenced(image).map(|(_, session)| self.expiry(session)).min()
    }

    /// Checks that sessions and registrations fit.
    pub(super) fn validate(&self, image: &Image) {
        for (id, broker) in &image.brokers {
            let known = self.brokers.get(id).is_some_and(|session| session.epoch == broker.epoch);
            assert!(broker.fenced || known, "broker {id} is unfenced without a session");
        }
    }

    fn unfenced(&self, image: &Image) -> impl Iterator<Item = (BrokerId, &Session)> {
        let live = |id: &BrokerId| image.brokers.get(id).is_some_and(|broker| !broker.fenced);
        self.brokers.iter().filter(move |(id, _)| live(id)).map(|(id, session)| (*id, session))
    }

    fn expiry(&self, session: &Session) -> Time {
        session.last_contact.plus_ms(self.timeout_ms)
    }
}
