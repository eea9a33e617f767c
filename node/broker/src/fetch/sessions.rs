//! Fetch sessions: what a client asked before, so that it need not say it again (KIP-227).

use std::collections::BTreeMap;

use highwater_node_core::types::Time;
use highwater_wire::ErrorCode;

use super::session::{Key, Session, Wanted};

/// A session that was silent for so long gives way to a new one.
const IDLE_BEFORE_EVICTION_MS: u64 = 120_000;
/// How many partitions all sessions remember together. Slots alone are no bound: one request may
/// name a hundred thousand partitions, and a session outlives its connection.
const PARTITIONS_MAX: usize = 200_000;
/// No session.
pub(super) const NO_SESSION: i32 = 0;
/// The epoch of a request that opens a session.
const INITIAL_EPOCH: i32 = 0;
/// The epoch of a request that closes a session or wants none.
const FINAL_EPOCH: i32 = -1;

/// All sessions of a broker.
#[derive(Debug)]
pub(crate) struct FetchSessions {
    open: BTreeMap<i32, Session>,
    slots: usize,
}

/// What a request says of its session, and of partitions.
#[derive(Debug)]
pub(super) struct SessionRequest {
    pub id: i32,
    pub epoch: i32,
    /// Partitions that are named, in order.
    pub named: Vec<(Key, Wanted)>,
    /// Partitions that are to be forgotten.
    pub forgotten: Vec<Key>,
    /// True when topics are named by id.
    pub by_id: bool,
}

/// What is to be fetched for a request.
#[derive(Debug)]
pub(super) struct SessionFetch {
    /// The session of the answer; `NO_SESSION` for none.
    pub id: i32,
    /// True when the answer names only partitions with news.
    pub incremental: bool,
    /// The partitions in the order in which they share the answer's bytes.
    pub partitions: Vec<(Key, Wanted)>,
}

impl FetchSessions {
    /// With room for so many sessions.
    pub(crate) fn new(slots: usize) -> FetchSessions {
        FetchSessions { open: BTreeMap::new(), slots }
    }

    /// Finds out what is to be fetched. `fresh_id` is any number; a new session gets it as its id.
    pub(super) fn take(
        &mut self,
        now: Time,
        request: SessionRequest,
        fresh_id: i32,
    ) -> Result<SessionFetch, ErrorCode> {
        match request.epoch {
            FINAL_EPOCH | INITIAL_EPOCH => {
                self.open.remove(&request.id);
                let opens = request.epoch == INITIAL_EPOCH && !request.named.is_empty();
                Ok(self.full(now, request, opens.then_some(fresh_id)))
            }
            _ => self.incremental(now, request),
        }
    }

    fn full(&mut self, now: Time, request: SessionRequest, fresh: Option<i32>) -> SessionFetch {
        let wanted = request.named.len();
        let id = fresh.filter(|_| self.make_room(now, wanted)).map(|id| self.free_id(id));
        if let Some(id) = id {
            let session = Session::new(now, request.by_id, &request.named);
            self.open.insert(id, session);
        }
        let (id, partitions) = (id.unwrap_or(NO_SESSION), request.named);
        SessionFetch { id, incremental: false, partitions }
    }

    fn incremental(
        &mut self,
        now: Time,
        request: SessionRequest,
    ) -> Result<SessionFetch, ErrorCode> {
        let id = request.id;
        let session = self.open.get_mut(&id).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        if session.epoch != request.epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        if session.by_id != request.by_id {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        session.update(now, &request.named, &request.forgotten);
        if !request.named.is_empty() && self.remembered() > PARTITIONS_MAX {
            // The client begins anew, and gets no session.
            self.open.remove(&id);
            return Err(ErrorCode::FetchSessionIdNotFound);
        }
        let session = &self.open[&id];
        let partitions = session.in_turn();
        if partitions.is_empty() {
            self.open.remove(&id);
            return Ok(SessionFetch { id: NO_SESSION, incremental: false, partitions });
        }
        Ok(SessionFetch { id, incremental: true, partitions })
    }

    /// The session of this id.
    pub(super) fn get_mut(&mut self, id: i32) -> Option<&mut Session> {
        self.open.get_mut(&id)
    }

    /// True when there is room for one more session of so many partitions, if need be after idle
    /// ones have gone.
    fn make_room(&mut self, now: Time, partitions: usize) -> bool {
        while self.open.len() >= self.slots || self.remembered() + partitions > PARTITIONS_MAX {
            let oldest = self.open.iter().min_by_key(|(_, session)| session.last_used);
            let Some((&id, session)) = oldest else { return false };
            if now.since(session.last_used) <= IDLE_BEFORE_EVICTION_MS * 1_000_000 {
                return false;
            }
            self.open.remove(&id);
        }
        true
    }

    /// The partitions of all sessions.
    fn remembered(&self) -> usize {
        self.open.values().map(Session::len).sum()
    }

    /// A positive number that is no session's: `id`, or the next free one.
    fn free_id(&self, id: i32) -> i32 {
        let mut id = (id & i32::MAX).max(1);
        while self.open.contains_key(&id) {
            id = if id == i32::MAX { 1 } else { id + 1 };
        }
        id
    }
}
