//! A producer client: one batch an operation, one request an attempt, repeats in sequence order.

mod batch;
mod identity;
mod request;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use batch::{Batch, State};
use highwater_history::event::BatchId;
use highwater_wire::ApiKey;
use identity::Identity;

use super::{
    ClientConfig, Effect, Input, Slot,
    links::{Call, Happened, Target},
    session::{Session, Told},
};
use crate::{Acks, Completion, Key, Op, Outcome, Time, op::code, outcome};

/// Pause before a batch is sent again.
const BACK_OFF: Duration = Duration::from_millis(50);

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Metadata,
    Identity,
    Batch(Slot),
}

/// The batches of one key in sequence order.
#[derive(Debug, Default)]
struct Lane {
    next_sequence: i32,
    order: VecDeque<Slot>,
}

/// A producer session.
///
/// An operation that ends in doubt retires the session: its sequence numbers are no longer certain.
/// An idempotent session retires with any operation that does not end ok, for the same reason.
#[derive(Debug)]
pub struct Producer {
    session: Session<Tag>,
    acks: Acks,
    repeats: bool,
    identity: Identity,
    batches: BTreeMap<Slot, Batch>,
    lanes: BTreeMap<Key, Lane>,
    retired: bool,
    /// When the last input came.
    stepped: Time,
}

impl Producer {
    /// A session that has not begun.
    pub fn new(config: ClientConfig, acks: Acks) -> Producer {
        let settings = &config.settings;
        // A broker may sequence batches at any level; Kafka's clients promise it for acks=all only.
        let idempotent = settings.idempotence && acks == Acks::All;
        let identity = match idempotent {
            true => Identity::Wanted(Time::ZERO, 0),
            false => Identity::NotWanted,
        };
        Producer {
            acks,
            // At acks=0 there is no answer that could call for a repeat.
            repeats: (idempotent || settings.retries) && acks != Acks::Zero,
            identity,
            batches: BTreeMap::new(),
            lanes: BTreeMap::new(),
            retired: false,
            stepped: Time::ZERO,
            session: Session::new(config),
        }
    }

    /// Takes one input at `now`.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        self.stepped = now;
        match self.session.take(now, input, out) {
            Told::Start if self.identity == Identity::NotWanted => {
                out.push(Effect::Opened { producer: None });
            }
            // An idempotent session opens with its producer id.
            Told::Start => {}
            Told::Operate(slot, op) => self.operate(now, slot, op),
            Told::Requests(happened) => {
                for happened in happened {
                    self.happened(now, happened, out);
                }
            }
        }
        self.give_up(now, out);
        self.pump(now, out);
    }

    /// When the next tick is due.
    pub fn next_wake(&self) -> Option<Time> {
        let waiting = self.batches.values().filter_map(|batch| match batch.state {
            // One that could have left at the last step waits for its leader, a connection or the
            // batch before it; all of these are inputs.
            State::Waiting(not_before) if not_before <= self.stepped => Some(batch.give_up),
            State::Waiting(not_before) => Some(not_before.min(batch.give_up)),
            State::OnWay(_) => None,
        });
        let others = [self.session.next_wake(), self.identity.next_wake()];
        waiting.chain(others.into_iter().flatten()).min()
    }

    /// Drops the session as a process that is killed does: operations end in doubt, connections
    /// end.
    pub fn crash(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.retired = true;
        let slots: Vec<Slot> = self.batches.keys().copied().collect();
        for slot in slots {
            let batch = self.batches.get_mut(&slot).expect("a batch lives until it is completed");
            batch.abandoned(now);
            self.complete(slot, None, out);
        }
        self.session.links.close_all(out);
    }

    /// Whether it takes no operation any more.
    pub fn is_retired(&self) -> bool {
        self.retired
    }

    fn operate(&mut self, now: Time, slot: Slot, op: Op) {
        let Op::Send { key, values } = op else {
            unreachable!("a producer is only asked to send");
        };
        assert!(!self.retired, "a retired client is given no operation");
        let lane = self.lanes.entry(key).or_default();
        let id = match self.identity {
            Identity::Known(producer_id, producer_epoch) => {
                let sequence = lane.next_sequence;
                lane.next_sequence += values.len() as i32;
                Some(BatchId { producer_id, producer_epoch, sequence })
            }
            Identity::NotWanted => None,
            _ => unreachable!("an idempotent client opens with its producer id"),
        };
        lane.order.push_back(slot);
        let timeouts = &self.session.config.settings.timeouts;
        let patience = if self.repeats { timeouts.delivery() } else { timeouts.attempt() };
        let batch = Batch::new((now, now + patience), key, &values, id, &self.session.config);
        let old = self.batches.insert(slot, batch);
        assert!(old.is_none(), "a slot has one operation in flight");
    }

    fn happened(&mut self, now: Time, happened: Happened<Tag>, out: &mut Vec<Effect>) {
        match happened {
            Happened::Sent(Tag::Batch(slot)) => self.sent(now, slot),
            Happened::Sent(_) => {}
            Happened::Written(Tag::Batch(slot)) => self.answered(now, slot, (0, None), out),
            Happened::Written(_) => unreachable!("only a batch goes without an answer"),
            Happened::Answer(Tag::Batch(slot), answer) => match request::produced(&answer) {
                Some(answer) => self.answered(now, slot, answer, out),
                None => self.doubtful(now, slot, code::MALFORMED_ANSWER, out),
            },
            Happened::Lost(Tag::Batch(slot), code) => self.doubtful(now, slot, code, out),
            Happened::NotSent(Tag::Batch(slot), code) => self.not_sent(now, slot, code),
            Happened::Answer(Tag::Metadata, answer) => self.session.learn(now, &answer),
            Happened::Lost(Tag::Metadata, _) | Happened::NotSent(Tag::Metadata, _) => {
                self.session.refresh.lost(now)
            }
            Happened::Answer(Tag::Identity, answer) => {
                self.identified(now, request::identity(&answer), out);
            }
            Happened::Lost(Tag::Identity, _) | Happened::NotSent(Tag::Identity, _) => {
                self.identified(now, None, out);
            }
        }
    }

    fn identified(&mut self, now: Time, given: Option<(i64, i16)>, out: &mut Vec<Effect>) {
        self.identity.answered(now, given, self.session.config.bootstrap.len());
        if let Identity::Known(..) = self.identity {
            out.push(Effect::Opened { producer: given });
        }
    }

    fn sent(&mut self, now: Time, slot: Slot) {
        self.batches.get_mut(&slot).expect("a batch lives until its answer").sent(now);
    }

    /// The broker answered with this error code and base offset.
    fn answered(
        &mut self,
        now: Time,
        slot: Slot,
        (code, base_offset): (i16, Option<i64>),
        out: &mut Vec<Effect>,
    ) {
        let batch = self.batches.get_mut(&slot).expect("a batch lives until its answer");
        let row = outcome::row(code);
        let judged = batch.judge(code, self.acks);
        batch.attempted(now, row.name, judged);
        if judged == Outcome::Ok {
            return self.complete(slot, base_offset, out);
        }
        self.session.refresh.want();
        let again = row.retriable || self.is_out_of_turn(slot, row.name);
        self.again_or_complete(now, slot, again, out);
    }

    /// A batch behind one that is still to be repeated is refused for its sequence, no more.
    fn is_out_of_turn(&self, slot: Slot, name: &str) -> bool {
        let key = self.batches[&slot].key;
        name == "OUT_OF_ORDER_SEQUENCE_NUMBER" && self.lanes[&key].order.front() != Some(&slot)
    }

    /// No answer will come.
    fn doubtful(&mut self, now: Time, slot: Slot, code: &'static str, out: &mut Vec<Effect>) {
        let batch = self.batches.get_mut(&slot).expect("a batch lives until its answer");
        batch.attempted(now, code, Outcome::Info);
        self.session.refresh.want();
        self.again_or_complete(now, slot, true, out);
    }

    /// Nothing left the client: this is no attempt, and trying once more is no repeat.
    fn not_sent(&mut self, now: Time, slot: Slot, code: &'static str) {
        let batch = self.batches.get_mut(&slot).expect("a batch lives until its answer");
        batch.not_sent(code);
        batch.state = State::Waiting(now + BACK_OFF);
        self.session.refresh.want();
    }

    fn again_or_complete(&mut self, now: Time, slot: Slot, again: bool, out: &mut Vec<Effect>) {
        let batch = self.batches.get_mut(&slot).expect("a batch lives until its answer");
        let time_left = now + BACK_OFF < batch.give_up;
        if again && self.repeats && !self.retired && time_left {
            batch.state = State::Waiting(now + BACK_OFF);
        } else {
            self.complete(slot, None, out);
        }
    }

    /// Completes what waits at the client for too long, or for nothing.
    fn give_up(&mut self, now: Time, out: &mut Vec<Effect>) {
        let over = |batch: &Batch| {
            matches!(batch.state, State::Waiting(_)) && (self.retired || batch.give_up <= now)
        };
        let slots: Vec<Slot> =
            self.batches.iter().filter(|(_, batch)| over(batch)).map(|(slot, _)| *slot).collect();
        for slot in slots {
            // Completing one may have retired the session and with it completed the others.
            if let Some(batch) = self.batches.get_mut(&slot) {
                if self.retired {
                    batch.not_sent(code::SESSION_ENDED);
                }
                self.complete(slot, None, out);
            }
        }
    }

    fn complete(&mut self, slot: Slot, base_offset: Option<i64>, out: &mut Vec<Effect>) {
        let batch = self.batches.remove(&slot).expect("a batch completes once");
        let lane = self.lanes.get_mut(&batch.key).expect("a batch stands in its lane");
        lane.order.retain(|other| *other != slot);
        let idempotent = batch.id.is_some();
        let completion: Completion = batch.complete(base_offset);
        self.retired |= match completion.outcome {
            Outcome::Ok => false,
            Outcome::Fail => idempotent,
            Outcome::Info => true,
        };
        out.push(Effect::Complete(slot, completion));
    }

    fn pump(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.identity.pump(now, &self.session.config, &mut self.session.links, out);
        let keys: Vec<Key> = self.lanes.keys().copied().collect();
        for key in keys {
            self.pump_lane(now, key, out);
        }
        self.session.ask_metadata(now, Tag::Metadata, out);
        if self.retired && self.batches.is_empty() {
            self.session.links.close_all(out);
        }
    }

    /// Sends what may be sent of one key: in sequence order, and never past a batch that is with
    /// another broker, or its successor would be refused for its sequence.
    fn pump_lane(&mut self, now: Time, key: Key, out: &mut Vec<Effect>) {
        let lane = &self.lanes[&key];
        if lane.order.is_empty() {
            return;
        }
        let Some(leader) = self.session.cluster.leader(key) else {
            return self.session.refresh.want();
        };
        let mut due = Vec::new();
        for slot in &lane.order {
            match self.batches[slot].state {
                State::OnWay(node) if node == leader.node => {}
                State::Waiting(not_before) if not_before <= now => due.push(*slot),
                State::OnWay(_) | State::Waiting(_) => break,
            }
        }
        for slot in due {
            self.send(now, slot, leader.node, out);
        }
    }

    fn send(&mut self, now: Time, slot: Slot, node: i32, out: &mut Vec<Effect>) {
        let settings = &self.session.config.settings;
        let Some(address) = self.session.cluster.address(node) else {
            return self.session.refresh.want();
        };
        let batch = self.batches.get_mut(&slot).expect("a lane names live batches");
        batch.state = State::OnWay(node);
        let timeout_ms = settings.timeouts.request_ms;
        let bytes = batch.bytes.clone();
        let body =
            request::produce(&self.session.config.catalog, batch.key, bytes, self.acks, timeout_ms);
        let call = Call {
            tag: Tag::Batch(slot),
            api: ApiKey::Produce,
            version: request::PRODUCE_VERSION,
            body,
            deadline: now + settings.timeouts.attempt(),
            answered: self.acks != Acks::Zero,
        };
        if self.session.links.call((Target::Node(node), address), call, out).is_some() {
            batch.sent(now);
        }
    }
}
