//! One client's session: its processes and what each has in flight.

use crate::{
    Op,
    client::{Client, Slot},
    workload::Seat,
};

/// A client and its slots.
#[derive(Debug)]
pub(super) struct Session {
    pub seat: Seat,
    pub client: Client,
    /// Whether it takes operations: an idempotent producer must have its producer id first.
    pub open: bool,
    first_process: u64,
    /// The operation that each has in flight.
    slots: Vec<Option<Op>>,
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

    /// How many of its processes have an operation in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// A process without an operation in flight, if there is one.
    pub(super) fn free_process(&self) -> Option<u64> {
        let nth = self.slots.iter().position(Option::is_none)?;
        Some(self.first_process + nth as u64)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    pub(super) fn takes_operations(&self) -> bool {
        self.open && !self.client.is_retired() && self.slots.iter().any(Option::is_none)
    }

    /// Occupies a free slot and gives its process.
    pub(super) fn begin(&mut self, op: Op) -> (Slot, u64) {
        let free = self.slots.iter().position(Option::is_none);
        let nth = free.expect("an operation begins in a free slot");
        self.slots[nth] = Some(op);
        (Slot(nth as u32), self.first_process + nth as u64)
    }

    /// Frees a slot; gives its process and what was in flight.
    pub(super) fn finish(&mut self, slot: Slot) -> (u64, Op) {
        let op = self.slots[slot.0 as usize].take();
        let op = op.expect("only an operation in flight ends");
        (self.first_process + u64::from(slot.0), op)
    }
}
