//! Clients that are dropped at once, in the middle of their operations.

use highwater_history::{event::EventKind, types::ClientId};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Effect, Fleet, events};
use crate::{
    Time,
    random::stream,
    workload::{Role, Seat},
};

/// Which kind of clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Both.
    #[default]
    Any,
    /// Those that send.
    Producer,
    /// Those that poll.
    Consumer,
}

/// Whom a crash hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victims {
    /// Of which kind.
    pub kind: Kind,
    /// How many, of those that there are.
    pub count: usize,
    /// Decides which.
    pub seed: u64,
}

/// A client that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Crashed {
    /// Its number.
    pub client: ClientId,
    /// Its processes, which nobody is any more.
    pub processes: Vec<u64>,
    /// How many of its operations were in flight.
    pub in_flight: usize,
}

impl Kind {
    fn is(self, role: Role) -> bool {
        match self {
            Kind::Any => true,
            Kind::Producer => matches!(role, Role::Producer(_)),
            Kind::Consumer => role == Role::Consumer,
        }
    }
}

impl Fleet {
    /// Drops clients as if their processes were killed: their operations end in doubt, and new
    /// clients with new processes take their seats. Gives those that are gone.
    pub fn crash(&mut self, now: Time, victims: Victims, out: &mut Vec<Effect>) -> Vec<Crashed> {
        let mut seats: Vec<Seat> = (0..).map(Seat).take(self.seats.len()).collect();
        seats.retain(|seat| victims.kind.is(self.seats[seat.0 as usize].role));
        seats.retain(|seat| self.sessions.values().any(|session| session.seat == *seat));
        seats.shuffle(&mut stream(victims.seed, "client-crash"));
        seats.truncate(victims.count);
        seats.sort_unstable();
        let mut gone = Vec::new();
        for seat in seats {
            let of_seat = self.sessions.iter().filter(|(_, session)| session.seat == seat);
            let ids: Vec<ClientId> = of_seat.map(|(id, _)| *id).collect();
            gone.extend(ids.into_iter().map(|id| self.crash_client(now, id, out)));
            // The next one comes as after a doubt: not before its time.
            self.seats[seat.0 as usize].vacant = true;
            self.fill(now, seat, out);
        }
        gone
    }

    fn crash_client(&mut self, now: Time, id: ClientId, out: &mut Vec<Effect>) -> Crashed {
        let session = self.sessions.get_mut(&id).expect("a client that crashes was there");
        let (processes, in_flight) = (session.processes(), session.in_flight());
        // A client that does nothing has a process free to say so.
        if let Some(process) = session.free_process().filter(|_| session.open) {
            for kind in [EventKind::Invoke, EventKind::Info] {
                out.push(Effect::Record(Box::new(events::crash(now, process, kind))));
            }
        }
        let mut effects = Vec::new();
        session.client.crash(now, &mut effects);
        for effect in effects {
            self.perform(now, id, effect, out);
        }
        self.sessions.remove(&id);
        Crashed { client: id, processes, in_flight }
    }
}
