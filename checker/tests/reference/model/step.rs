//! What an operation of the model does between its invocation and its completion.

use highwater_history::{
    Key, Offset, Value,
    event::{Ack, EventKind, Function, MicroOp, ReadRecord},
};
use rand::RngExt;

use super::{World, client::Step};

impl World {
    /// The next step of a process's operation.
    pub(super) fn step(&mut self, nth: usize) {
        let pending = self.clients[nth].pending.as_mut().expect("it is in an operation");
        let step = pending.steps.pop().expect("it has a step to take");
        let done = match step {
            Step::Send(key, value) => {
                let ack = self.send(nth, &key, value);
                MicroOp::Send { key, value, ack }
            }
            Step::Poll => MicroOp::Poll { records: Some(self.poll(nth)) },
        };
        self.clients[nth].pending.as_mut().expect("as above").done.push(done);
    }

    /// Appends a record if it lands; what its acknowledgement would say.
    fn send(&mut self, nth: usize, key: &Key, value: Value) -> Ack {
        let pending = self.clients[nth].pending.as_ref().expect("it is in an operation");
        let (ending, transaction) = (pending.ending, pending.transaction);
        let plain = pending.f == Function::Send;
        let lands = match ending.kind {
            EventKind::Fail => !plain,
            EventKind::Info if plain => ending.lands && self.chance(80),
            EventKind::Info | EventKind::Ok | EventKind::Invoke => true,
        };
        if !lands {
            return self.said_of_nothing(ending.lands, key);
        }
        let gap = self.gap();
        let offset = self.log(key).append(value, transaction, gap);
        let told = match ending.kind {
            EventKind::Ok => 100 - self.shape.null_acks,
            _ => 30,
        };
        match ending.kind {
            _ if self.chance(told) => Ack::At(offset),
            EventKind::Ok => Ack::Unknown,
            _ => Ack::None,
        }
    }

    /// What a completion says of a record that is not there: an offset that proves nothing, but
    /// only where no other record of the operation may be there.
    fn said_of_nothing(&mut self, others_may_land: bool, key: &Key) -> Ack {
        if others_may_land || !self.chance(10) {
            return Ack::None;
        }
        let end = self.log(key).end();
        Ack::At(self.rng.random_range(0..=end))
    }

    /// Reads on from the positions of some keys.
    fn poll(&mut self, nth: usize) -> Vec<(Key, Vec<ReadRecord>)> {
        let mut keys = self.some_keys();
        if let Some(assigned) = &self.clients[nth].assigned {
            keys.retain(|key| assigned.contains(key));
        }
        let polled = keys.into_iter().map(|key| {
            let records = self.fetch(nth, &key);
            (key, records)
        });
        let polled: Vec<_> = polled.collect();
        polled.into_iter().filter(|(_, records)| !records.is_empty() || self.chance(10)).collect()
    }

    fn fetch(&mut self, nth: usize, key: &Key) -> Vec<ReadRecord> {
        let from = self.position(nth, key);
        let most = self.rng.random_range(0..4);
        let visible = self.logs[key].visible(from);
        let mut records = Vec::new();
        for (offset, value) in visible.into_iter().take(most) {
            self.clients[nth].position.insert(key.clone(), offset + 1);
            let told = !self.chance(self.shape.null_reads);
            records.push(ReadRecord(told.then_some(offset), value));
        }
        if !records.is_empty() {
            let pending = self.clients[nth].pending.as_mut().expect("it is in an operation");
            pending.read.insert(key.clone());
        }
        records
    }

    /// Where a process reads a key on: where it was, anywhere if it was nowhere or after a
    /// rebalance, which the operation notes if it has read the key before.
    fn position(&mut self, nth: usize, key: &Key) -> Offset {
        let rebalanced = self.clients[nth].subscribed && self.chance(15);
        let client = &mut self.clients[nth];
        if let Some(position) = client.position.get(key).filter(|_| !rebalanced) {
            return *position;
        }
        let pending = client.pending.as_mut().expect("it is in an operation");
        if rebalanced && pending.read.contains(key) {
            pending.rebalanced.insert(key.clone());
        }
        let end = self.logs[key].end();
        if self.chance(50) { 0 } else { self.rng.random_range(0..=end) }
    }
}
