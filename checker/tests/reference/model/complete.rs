//! How an operation of the model ends.

use highwater_history::{
    Event, EventValue, Key,
    event::{Ack, EventKind, Function, MicroOp, Process, Rebalance},
};
use serde_json::Map;

use super::{
    World,
    client::{Client, Pending},
};

impl World {
    /// A process's operation ends, or nobody hears of its end.
    pub(super) fn complete(&mut self, nth: usize) {
        let pending = self.clients[nth].pending.take().expect("it is in an operation");
        let ending = pending.ending;
        if let Some(transaction) = pending.transaction {
            let committed = match ending.kind {
                EventKind::Ok => true,
                EventKind::Info => ending.lands,
                EventKind::Fail | EventKind::Invoke => false,
            };
            self.logs.values_mut().for_each(|log| log.decide(transaction, committed));
        }
        let client = &mut self.clients[nth];
        client.settle(ending.kind == EventKind::Ok);
        if let Some((keys, seek)) =
            pending.assigns.as_ref().filter(|_| ending.kind != EventKind::Fail)
        {
            client.assign(keys, *seek, pending.f == Function::Subscribe);
        }
        let gone = self.retires(&pending);
        if gone {
            self.keep_for_later(&pending);
        }
        if !ending.crash {
            let completion = completion(self.clients[nth].process, pending);
            self.push(completion);
        }
        if gone {
            self.clients[nth] = Client::new(self.next_process);
            self.next_process += 1;
        }
    }

    /// Whether the process is not heard of again.
    fn retires(&mut self, pending: &Pending) -> bool {
        let unknown = pending.ending.kind == EventKind::Info;
        unknown && (pending.ending.crash || !self.chance(self.shape.goes_on))
    }

    /// What an unknown plain send has not brought to the log may still come.
    fn keep_for_later(&mut self, pending: &Pending) {
        if pending.f != Function::Send || pending.ending.lands {
            return;
        }
        let untold = pending.done.iter().filter_map(|op| match op {
            MicroOp::Send { key, value, ack: Ack::None } => Some((key.clone(), *value)),
            MicroOp::Send { .. } | MicroOp::Poll { .. } => None,
        });
        let untold: Vec<_> = untold.collect();
        let all = untold.len() == pending.done.len();
        self.late.extend(untold.into_iter().filter(|_| all));
    }
}

fn completion(process: u64, pending: Pending) -> Event {
    let kind = pending.ending.kind;
    let mut event = Event::new(0, Process::Client(process), kind, pending.f);
    event.value = match pending.assigns {
        Some((keys, seek)) => {
            event.seek_to_beginning = seek;
            EventValue::Keys(keys.into_iter().collect())
        }
        None if event.f == Function::Crash => EventValue::None,
        None => EventValue::Ops(pending.done),
    };
    if !pending.rebalanced.is_empty() {
        let keys: Vec<Key> = pending.rebalanced.into_iter().collect();
        event.rebalance_log = Some(vec![Rebalance { keys, extra: Map::new() }]);
    }
    event
}
