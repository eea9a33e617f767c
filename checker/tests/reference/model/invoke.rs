//! How an operation of the model begins.

use std::collections::BTreeSet;

use highwater_history::{
    Event, EventValue,
    event::{Ack, EventKind, Function, MicroOp, Process},
};
use rand::RngExt;

use super::{
    World,
    client::{Ending, Pending, Step},
};

impl World {
    /// A process invokes something.
    pub(super) fn invoke(&mut self, nth: usize) {
        if self.chance(self.shape.assignments) {
            return self.invoke_assignment(nth);
        }
        let polls = self.chance(self.shape.polls);
        let (f, steps) = if self.chance(self.shape.transactions) {
            (Function::Txn, self.steps_of_transaction())
        } else if polls {
            let polls = if self.chance(20) { 2 } else { 1 };
            (Function::Poll, vec![Step::Poll; polls])
        } else {
            let sends = if self.chance(30) { self.rng.random_range(2..=3) } else { 1 };
            (Function::Send, (0..sends).map(|_| self.fresh_send()).collect())
        };
        let asked = steps.iter().map(ask).collect();
        self.begin(nth, f, EventValue::Ops(asked), steps);
    }

    fn steps_of_transaction(&mut self) -> Vec<Step> {
        let count = self.rng.random_range(1..=4);
        (0..count).map(|_| if self.chance(50) { Step::Poll } else { self.fresh_send() }).collect()
    }

    fn fresh_send(&mut self) -> Step {
        let key = self.any_key();
        let next = self.next_value.entry(key.clone()).or_default();
        let value = *next;
        *next += 1;
        Step::Send(key, value)
    }

    fn invoke_assignment(&mut self, nth: usize) {
        if self.chance(10) {
            return self.begin(nth, Function::Crash, EventValue::None, Vec::new());
        }
        let keys = self.some_keys();
        let seek = self.chance(self.shape.seeks);
        let subscribes = self.chance(self.shape.subscribes);
        let f = if subscribes { Function::Subscribe } else { Function::Assign };
        self.begin(nth, f, EventValue::Keys(keys.clone()), Vec::new());
        let invocation = self.events.last_mut().expect("it was just pushed");
        invocation.seek_to_beginning = seek;
        let pending = self.clients[nth].pending.as_mut().expect("it has just begun");
        pending.assigns = Some((keys.into_iter().collect(), seek));
    }

    fn begin(&mut self, nth: usize, f: Function, asked: EventValue, mut steps: Vec<Step>) {
        let process = Process::Client(self.clients[nth].process);
        let invocation = Event::new(0, process, EventKind::Invoke, f.clone());
        self.push(invocation.with_value(asked));
        let transaction = (f == Function::Txn).then_some(self.next_transaction);
        self.next_transaction += 1;
        steps.reverse();
        let ending = self.ending(&f);
        self.clients[nth].pending = Some(Pending {
            f,
            ending,
            transaction,
            steps,
            done: Vec::new(),
            read: BTreeSet::new(),
            rebalanced: BTreeSet::new(),
            assigns: None,
        });
    }

    fn ending(&mut self, f: &Function) -> Ending {
        let roll = self.rng.random_range(0..100);
        let kind = match roll {
            _ if *f == Function::Crash => EventKind::Info,
            _ if roll < self.shape.fails => EventKind::Fail,
            _ if roll < self.shape.fails + self.shape.infos => EventKind::Info,
            _ => EventKind::Ok,
        };
        let crash = kind == EventKind::Info && self.chance(20);
        Ending { kind, lands: self.chance(50), crash }
    }
}

fn ask(step: &Step) -> MicroOp {
    match step {
        Step::Send(key, value) => MicroOp::Send { key: key.clone(), value: *value, ack: Ack::None },
        Step::Poll => MicroOp::Poll { records: None },
    }
}
