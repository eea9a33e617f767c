//! Getting a producer id.

use std::time::Duration;

use highwater_wire::ApiKey;

use super::{Tag, request};
use crate::{
    Time,
    client::{
        ClientConfig, Effect,
        links::{Call, Links, Target},
    },
};

/// Pause between two requests.
const BACK_OFF: Duration = Duration::from_millis(50);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// The producer id of an idempotent session, or the way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    /// The session is not idempotent.
    NotWanted,
    /// To be asked for, not before this time, from this bootstrap broker.
    Wanted(Time, usize),
    /// Asked this bootstrap broker.
    Asked(usize),
    /// Producer id and epoch.
    Known(i64, i16),
}

impl Identity {
    /// Sends the request when it is due.
    pub(super) fn pump(
        &mut self,
        now: Time,
        config: &ClientConfig,
        links: &mut Links<Tag>,
        out: &mut Vec<Effect>,
    ) {
        let Identity::Wanted(not_before, source) = *self else { return };
        if now < not_before {
            return;
        }
        *self = Identity::Asked(source);
        let call = Call {
            tag: Tag::Identity,
            api: ApiKey::InitProducerId,
            version: request::INIT_VERSION,
            body: request::init_producer_id(),
            deadline: now + PATIENCE,
            answered: true,
        };
        links.call((Target::Bootstrap(source), &config.bootstrap[source]), call, out);
    }

    /// The answer came, or did not.
    pub(super) fn answered(&mut self, now: Time, given: Option<(i64, i16)>, sources: usize) {
        let Identity::Asked(source) = *self else { return };
        *self = match given {
            Some((id, epoch)) => Identity::Known(id, epoch),
            None => Identity::Wanted(now + BACK_OFF, (source + 1) % sources),
        };
    }

    pub(super) fn next_wake(&self) -> Option<Time> {
        match self {
            Identity::Wanted(not_before, _) => Some(*not_before),
            _ => None,
        }
    }
}
