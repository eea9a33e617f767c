//! One client's session: its processes and what each has in flight.

use crate::{
    Op, Time,
    client::{Client, Slot},
    workload::Seat,
};

/// An operation that has begun.
#[derive(Debug)]
pub(super) struct InFlight {
    pub intended: Time,
    pub op: Op,
}

/// A client and its slots.
#[derive(Debug)]
pub(super) struct Session {
    pub seat: Seat,
    pub client: Client,
    /// Whether it takes operations: an idempotent producer must have its producer id first.
    pub open: bool,
    first_process: u64,
    slots: Vec<Option<InFlight>>,
}

impl Session {
    pub(super) fn new(seat: Seat, client: Client, slots: u32, first_process: u64) -> Session {
        let slots = (0..slots).map(|_| None).collect();
        Session { seat, client, open: false, first_process, slots }
    }

    /// The numbers of its processes.
    pub(super) fn processes(&self) -> Vec<u64> {
        (0..self.slots.len() as u64).map(|nth| self.first_process + nth).collect()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    pub(super) fn takes_operations(&self) -> bool {
        self.open && !self.client.is_retired() && self.slots.iter().any(Option::is_none)
    }

    /// Occupies a free slot and gives its process.
    pub(super) fn begin(&mut self, intended: Time, op: Op) -> (Slot, u64) {
        let free = self.slots.iter().position(Option::is_none);
        let nth = free.expect("an operation begins in a free slot");
        self.slots[nth] = Some(InFlight { intended, op });
        (Slot(nth as u32), self.first_process + nth as u64)
    }

    /// Frees a slot; gives its process and what was in flight.
    pub(super) fn finish(&mut self, slot: Slot) -> (u64, InFlight) {
        let in_flight = self.slots[slot.0 as usize].take();
        let in_flight = in_flight.expect("only an operation in flight ends");
        (self.first_process + u64::from(slot.0), in_flight)
    }
}
