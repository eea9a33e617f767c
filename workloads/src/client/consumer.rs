//! A consumer client: an assignment with positions; one poll is one Fetch to one leader.

use std::{collections::BTreeMap, time::Duration};

use highwater_wire::{
    ApiKey, ResponseKind,
    messages::{FetchResponse, ListOffsetsResponse},
};

use super::{
    ClientConfig, Effect, Input, Slot,
    fetch::{self, Ask},
    links::{Call, Happened, Target},
    log_start,
    positions::{Position, Positions},
    records,
    session::{Session, Told},
};
use crate::{
    Completion, Key, Op, Outcome, Time,
    op::{Gave, KeyRead, code},
    outcome,
};

/// How long a poll may take beyond its own wait.
const SLACK: Duration = Duration::from_millis(1_000);

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Metadata,
    LogStart,
    Poll,
}

/// The poll in progress.
#[derive(Debug)]
struct Poll {
    slot: Slot,
    give_up: Time,
    state: PollState,
}

#[derive(Debug)]
enum PollState {
    /// For a leader to be known.
    Waiting,
    /// For the answer of this broker to these questions.
    Asked(i32, Vec<Ask>),
    /// For this broker to say where so many keys begin.
    Seeking(i32, usize),
}

/// A consumer session. A poll changes nothing, so none ends in doubt, and the session retires by a
/// crash only.
#[derive(Debug)]
pub struct Consumer {
    session: Session<Tag>,
    positions: Positions,
    /// The broker polled last; the next in id order comes next.
    last_node: i32,
    poll: Option<Poll>,
    retired: bool,
}

impl Consumer {
    /// A session that has not begun.
    pub fn new(config: ClientConfig) -> Consumer {
        Consumer {
            session: Session::new(config),
            positions: Positions::default(),
            last_node: -1,
            poll: None,
            retired: false,
        }
    }

    /// Takes one input at `now`.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        match self.session.take(now, input, out) {
            Told::Start => out.push(Effect::Opened { producer: None }),
            Told::Operate(slot, op) => self.operate(now, slot, op, out),
            Told::Requests(happened) => {
                for happened in happened {
                    self.happened(now, happened, out);
                }
            }
        }
        self.pump(now, out);
    }

    /// When the next tick is due.
    pub fn next_wake(&self) -> Option<Time> {
        let waiting = self.poll.as_ref().and_then(|poll| match poll.state {
            PollState::Waiting => Some(poll.give_up),
            PollState::Asked(..) | PollState::Seeking(..) => None,
        });
        waiting.into_iter().chain(self.session.next_wake()).min()
    }

    /// Drops the session as a process that is killed does: a poll ends in doubt, connections end.
    pub fn crash(&mut self, out: &mut Vec<Effect>) {
        self.retired = true;
        if self.poll.is_some() {
            self.ended(Outcome::Info, code::CLIENT_CRASHED, out);
        }
        self.session.links.close_all(out);
    }

    /// Whether it takes no operation any more.
    pub fn is_retired(&self) -> bool {
        self.retired
    }

    fn operate(&mut self, now: Time, slot: Slot, op: Op, out: &mut Vec<Effect>) {
        assert!(self.poll.is_none(), "a consumer has one operation in flight");
        match op {
            Op::Assign { keys, seek_to_beginning } => {
                self.positions.assign(&keys, seek_to_beginning);
                let (outcome, gave) = (Outcome::Ok, Gave::Assigned);
                let done = Completion { outcome, node: None, error: None, gave };
                out.push(Effect::Complete(slot, done));
            }
            Op::Poll => {
                let wait =
                    Duration::from_millis(self.session.config.settings.timeouts.poll_wait_ms);
                let give_up = now + wait + SLACK;
                self.poll = Some(Poll { slot, give_up, state: PollState::Waiting });
            }
            Op::Send { .. } => unreachable!("a consumer is never asked to send"),
        }
    }

    fn happened(&mut self, now: Time, happened: Happened<Tag>, out: &mut Vec<Effect>) {
        match happened {
            Happened::Sent(_) => {}
            Happened::Written(_) => unreachable!("every request of a consumer has an answer"),
            Happened::Answer(Tag::Metadata, answer) => self.session.learn(now, &answer),
            Happened::Lost(Tag::Metadata, _) | Happened::NotSent(Tag::Metadata, _) => {
                self.session.refresh.lost(now)
            }
            Happened::Answer(Tag::Poll, answer) => match &*answer {
                ResponseKind::Fetch(answer) => self.fetched(answer, out),
                _ => self.failed(code::MALFORMED_ANSWER, out),
            },
            Happened::Answer(Tag::LogStart, answer) => match &*answer {
                ResponseKind::ListOffsets(answer) => self.sought(answer, out),
                _ => self.failed(code::MALFORMED_ANSWER, out),
            },
            Happened::Lost(Tag::Poll | Tag::LogStart, code)
            | Happened::NotSent(Tag::Poll | Tag::LogStart, code) => {
                self.session.refresh.want();
                self.failed(code, out);
            }
        }
    }

    fn pump(&mut self, now: Time, out: &mut Vec<Effect>) {
        if self.poll.as_ref().is_some_and(|poll| matches!(poll.state, PollState::Waiting)) {
            self.ask(now, out);
        }
        self.session.ask_metadata(now, Tag::Metadata, out);
    }

    fn ask(&mut self, now: Time, out: &mut Vec<Effect>) {
        let poll = self.poll.as_mut().expect("a poll waits");
        if poll.give_up <= now {
            return self.failed(code::NO_LEADER, out);
        }
        let mut by_node: BTreeMap<i32, Vec<(Key, Position, i32)>> = BTreeMap::new();
        for (key, position) in self.positions.iter() {
            match self.session.cluster.leader(key) {
                Some(leader) => {
                    by_node.entry(leader.node).or_default().push((key, position, leader.epoch));
                }
                None => self.session.refresh.want(),
            }
        }
        let next = by_node.range(self.last_node + 1..).next().or(by_node.iter().next());
        let Some((node, keys)) = next else { return };
        let Some(address) = self.session.cluster.address(*node) else {
            return self.session.refresh.want();
        };
        let (catalog, settings) = (&self.session.config.catalog, &self.session.config.settings);
        let (asks, unknown) = split(keys);
        let (tag, api, version, body) = if unknown.is_empty() {
            let request = fetch::request(catalog, settings, &asks);
            self.last_node = *node;
            poll.state = PollState::Asked(*node, asks);
            (Tag::Poll, ApiKey::Fetch, fetch::version(catalog), request)
        } else {
            let request = log_start::request(catalog, &unknown).into();
            poll.state = PollState::Seeking(*node, unknown.len());
            (Tag::LogStart, ApiKey::ListOffsets, log_start::VERSION, request)
        };
        let call = Call { tag, api, version, body, deadline: poll.give_up, answered: true };
        self.session.links.call((Target::Node(*node), address), call, out);
    }

    /// Once it is known where keys begin, the poll goes on.
    fn sought(&mut self, answer: &ListOffsetsResponse, out: &mut Vec<Effect>) {
        let poll = self.poll.as_ref().expect("an answer belongs to a poll");
        let PollState::Seeking(_, asked) = poll.state else {
            unreachable!("an answer comes to a poll that asked");
        };
        let told = log_start::told(&self.session.config.catalog, answer);
        if told.len() < asked {
            return self.failed(code::MALFORMED_ANSWER, out);
        }
        for (key, begins) in told {
            match begins {
                Ok(offset) => self.positions.move_to(key, offset),
                Err(code) => {
                    self.session.refresh.want();
                    return self.failed(code, out);
                }
            }
        }
        self.poll.as_mut().expect("it goes on").state = PollState::Waiting;
    }

    fn fetched(&mut self, answer: &FetchResponse, out: &mut Vec<Effect>) {
        if answer.error_code != 0 {
            self.session.refresh.want();
            return self.failed(outcome::row(answer.error_code).name, out);
        }
        let (mut reads, mut errors) = (Vec::new(), Vec::new());
        for topic in &answer.responses {
            for partition in &topic.partitions {
                let (catalog, nth) = (&self.session.config.catalog, partition.partition_index);
                let Some(key) = catalog.told(topic.topic_id, &topic.topic, nth) else { continue };
                if outcome::read(partition.error_code) != Outcome::Ok {
                    let code = outcome::row(partition.error_code).name;
                    if code == code::OFFSET_OUT_OF_RANGE {
                        self.positions.out_of_range(key);
                    }
                    errors.push((key, code));
                    self.session.refresh.want();
                    continue;
                }
                let from = self.asked_from(key);
                let names =
                    (&*self.session.config.settings.run_id, self.session.config.catalog.name(key));
                let (read, next) = records::read(names, from, partition);
                self.positions.move_to(key, next);
                if read != KeyRead::default() {
                    reads.push((key, read));
                }
            }
        }
        self.finish(reads, errors, out);
    }

    fn asked_from(&self, key: Key) -> i64 {
        let poll = self.poll.as_ref().expect("an answer belongs to a poll");
        let PollState::Asked(_, asks) = &poll.state else {
            unreachable!("an answer comes to a poll that asked");
        };
        asks.iter().find(|ask| ask.key == key).map_or(0, |ask| ask.offset)
    }

    /// Completes the poll: ok when any key answered without an error.
    fn finish(
        &mut self,
        mut reads: Vec<(Key, KeyRead)>,
        errors: Vec<(Key, &'static str)>,
        out: &mut Vec<Effect>,
    ) {
        reads.sort_by_key(|(key, _)| *key);
        let poll = self.poll.take().expect("a poll finishes once");
        let PollState::Asked(node, asks) = poll.state else {
            unreachable!("an answer comes to a poll that asked");
        };
        let all_bad = !errors.is_empty() && errors.len() == asks.len();
        let outcome = if all_bad { Outcome::Fail } else { Outcome::Ok };
        let error = errors.first().map(|(_, code)| *code).filter(|_| all_bad);
        let gave = Gave::Polled { reads, errors };
        let completion = Completion { outcome, node: Some(node), error, gave };
        out.push(Effect::Complete(poll.slot, completion));
    }

    fn failed(&mut self, error: &'static str, out: &mut Vec<Effect>) {
        self.ended(Outcome::Fail, error, out);
    }

    /// Completes the poll without having read anything.
    fn ended(&mut self, outcome: Outcome, error: &'static str, out: &mut Vec<Effect>) {
        let poll = self.poll.take().expect("a poll ends once");
        let node = match poll.state {
            PollState::Asked(node, _) | PollState::Seeking(node, _) => Some(node),
            PollState::Waiting => None,
        };
        let gave = Gave::Polled { reads: Vec::new(), errors: Vec::new() };
        let completion = Completion { outcome, node, error: Some(error), gave };
        out.push(Effect::Complete(poll.slot, completion));
    }
}

/// What to fetch, and the keys of which is to be asked first where they begin.
fn split(keys: &[(Key, Position, i32)]) -> (Vec<Ask>, Vec<(Key, i32)>) {
    let (mut asks, mut unknown) = (Vec::new(), Vec::new());
    for &(key, position, leader_epoch) in keys {
        match position {
            Position::At(offset) => asks.push(Ask { key, offset, leader_epoch }),
            Position::LogStart => unknown.push((key, leader_epoch)),
        }
    }
    (asks, unknown)
}
