//! Clients against a broker in memory: attempts, repeats, doubt, positions.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use highwater_log::batch::BatchBuilder;

use super::{Address, Client, ClientConfig, Conn, Effect, Input, Slot};
use crate::{
    Acks, Catalog, Completion, Key, Op, Outcome, Settings, Time,
    op::Gave,
    outcome,
    testing::{FakeBroker, catalog},
    value,
};

const ALL: Key = Key(0);
const ZERO: Key = Key(1);
const NOT_ENOUGH_REPLICAS: i16 = 19;
const NOT_LEADER: i16 = 6;
const OUT_OF_ORDER: i16 = 45;

/// A client, its broker, and what stands between them.
struct Bench {
    client: Client,
    broker: FakeBroker,
    now: Time,
    open: Option<Option<(i64, i16)>>,
    done: Vec<(Slot, Completion)>,
    /// Requests that wait for the broker.
    requests: Vec<(Conn, Bytes)>,
    /// How many requests each connection was handed.
    sent: BTreeMap<Conn, u64>,
    /// Whether requests reach the broker at once.
    flowing: bool,
}

impl Bench {
    fn producer(acks: Acks, change: impl FnOnce(&mut Settings)) -> Bench {
        Bench::new(change, |config| Client::producer(config, acks))
    }

    fn consumer() -> Bench {
        Bench::new(|_| (), Client::consumer)
    }

    fn new(change: impl FnOnce(&mut Settings), make: impl FnOnce(ClientConfig) -> Client) -> Bench {
        Bench::on(catalog(), change, make)
    }

    fn on(
        catalog: Catalog,
        change: impl FnOnce(&mut Settings),
        make: impl FnOnce(ClientConfig) -> Client,
    ) -> Bench {
        let mut settings = Settings { run_id: "r7".into(), ..Settings::default() };
        change(&mut settings);
        let client = make(ClientConfig {
            client_id: "test".into(),
            bootstrap: vec![Address { host: "fake".into(), port: 9092 }],
            catalog: Arc::new(catalog.clone()),
            settings: Arc::new(settings),
            unix_zero_ms: 1_700_000_000_000,
        });
        let mut bench = Bench {
            client,
            broker: FakeBroker::new(&catalog),
            now: Time::ZERO,
            open: None,
            done: Vec::new(),
            requests: Vec::new(),
            sent: BTreeMap::new(),
            flowing: true,
        };
        bench.input(Input::Start);
        bench.wait(200);
        bench
    }

    fn input(&mut self, input: Input) {
        let mut inputs = vec![input];
        while !inputs.is_empty() {
            let mut effects = Vec::new();
            self.client.step(self.now, inputs.remove(0), &mut effects);
            for effect in effects {
                self.perform(effect, &mut inputs);
            }
        }
    }

    fn perform(&mut self, effect: Effect, inputs: &mut Vec<Input>) {
        if let Effect::Send(conn, _) = effect {
            *self.sent.entry(conn).or_default() += 1;
        }
        match effect {
            Effect::Connect(conn, _) => inputs.push(Input::Connected(conn)),
            Effect::Send(conn, frame) if self.flowing => {
                inputs.push(Input::Written(conn, self.sent[&conn]));
                let answer = self.broker.answer(frame);
                inputs.extend(answer.map(|answer| Input::Frame(conn, answer)));
            }
            Effect::Send(conn, frame) => self.requests.push((conn, frame)),
            Effect::Close(conn) => self.requests.retain(|(other, _)| *other != conn),
            Effect::Opened { producer } => self.open = Some(producer),
            Effect::Complete(slot, completion) => self.done.push((slot, completion)),
        }
    }

    /// Lets `millis` pass, with the ticks that the client asks for.
    fn wait(&mut self, millis: u64) {
        let end = self.now + std::time::Duration::from_millis(millis);
        while let Some(wake) = self.client.next_wake().filter(|wake| *wake <= end) {
            self.now = self.now.max(wake);
            self.input(Input::Tick);
        }
        self.now = end;
    }

    fn send(&mut self, slot: u32, key: Key, values: &[i64]) {
        self.input(Input::Operate(Slot(slot), Op::Send { key, values: values.to_vec() }));
    }

    fn op(&mut self, op: Op) -> Completion {
        self.input(Input::Operate(Slot(0), op));
        self.wait(100);
        self.take()
    }

    fn take(&mut self) -> Completion {
        assert_eq!(self.done.len(), 1, "one operation ended: {:?}", self.done);
        self.done.remove(0).1
    }

    /// The broker answers what waits, and goes on answering.
    fn deliver(&mut self) {
        self.flowing = true;
        for (conn, frame) in std::mem::take(&mut self.requests) {
            let answer = self.broker.answer(frame).expect("an answered request");
            self.input(Input::Frame(conn, answer));
        }
    }

    /// The broker processes what waits, and its answers are lost.
    fn lose_answers(&mut self) {
        let requests = std::mem::take(&mut self.requests);
        let conns: Vec<Conn> = requests.iter().map(|(conn, _)| *conn).collect();
        for (_, frame) in requests {
            self.broker.answer(frame);
        }
        self.flowing = true;
        for conn in conns {
            self.input(Input::Closed(conn));
        }
    }
}

fn sent(completion: &Completion) -> (Option<i64>, Vec<&str>) {
    let Gave::Sent { base_offset, attempts, .. } = &completion.gave else {
        panic!("not a send: {completion:?}");
    };
    (*base_offset, attempts.iter().map(|attempt| &*attempt.code).collect())
}

#[test]
fn an_idempotent_producer_opens_with_its_id_and_numbers_its_batches() {
    let mut bench = Bench::producer(Acks::All, |_| ());
    assert_eq!(bench.open, Some(Some((4_001, 0))));
    bench.send(0, ALL, &[10, 11]);
    bench.wait(100);
    assert_eq!(sent(&bench.take()), (Some(0), vec!["NONE"]));
    bench.send(0, ALL, &[12]);
    let last = bench.take();
    assert_eq!(sent(&last), (Some(2), vec!["NONE"]));
    let sequences: Vec<i32> =
        bench.broker.batches.iter().map(|batch| batch.header().base_sequence).collect();
    assert_eq!(sequences, [0, 2]);
}

#[test]
fn rule_40_a_lost_answer_without_repeats_is_doubt_and_ends_the_session() {
    let mut bench = Bench::producer(Acks::One, |_| ());
    bench.send(0, ALL, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ALL, &[11]);
    bench.lose_answers();
    let completion = bench.take();
    assert_eq!((completion.outcome, completion.error), (Outcome::Info, Some("CONNECTION_LOST")));
    assert_eq!(sent(&completion), (None, vec!["CONNECTION_LOST"]));
    assert!(bench.client.is_retired());
}

#[test]
fn rule_42_a_repeat_has_the_same_bytes() {
    let mut bench = Bench::producer(Acks::All, |_| ());
    bench.send(0, ALL, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ALL, &[11]);
    bench.lose_answers();
    bench.wait(500);
    let completion = bench.take();
    assert_eq!(completion.outcome, Outcome::Ok);
    assert_eq!(sent(&completion).1, ["CONNECTION_LOST", "NONE"]);
    let [_, first, repeat] = &bench.broker.batches[..] else { panic!("three batches") };
    assert_eq!(first.bytes(), repeat.bytes());
    assert!(!bench.client.is_retired());
}

#[test]
fn rule_40_a_definite_error_without_repeats_is_a_fail() {
    let mut bench = Bench::producer(Acks::All, |settings| settings.idempotence = false);
    bench.broker.refuse = vec![NOT_ENOUGH_REPLICAS];
    bench.send(0, ALL, &[10]);
    bench.wait(100);
    let completion = bench.take();
    assert_eq!(
        (completion.outcome, completion.error),
        (Outcome::Fail, Some("NOT_ENOUGH_REPLICAS"))
    );
    assert!(!bench.client.is_retired(), "without sequences nothing is in doubt");
}

#[test]
fn a_batch_refused_behind_a_repeated_one_is_repeated_after_it() {
    let mut bench = Bench::producer(Acks::All, |_| ());
    bench.send(0, ALL, &[9]);
    bench.wait(100);
    bench.take();
    bench.broker.refuse = vec![NOT_ENOUGH_REPLICAS, OUT_OF_ORDER];
    bench.flowing = false;
    bench.send(0, ALL, &[10]);
    bench.send(1, ALL, &[11]);
    bench.deliver();
    bench.wait(500);
    let offsets: Vec<_> = bench.done.iter().map(|(slot, done)| (slot.0, sent(done).0)).collect();
    assert_eq!(offsets, [(0, Some(1)), (1, Some(2))]);
}

#[test]
fn repeats_end_at_the_delivery_time_out_and_end_the_session() {
    let mut bench = Bench::producer(Acks::All, |_| ());
    bench.broker.refuse = vec![NOT_LEADER; 1_000];
    bench.send(0, ALL, &[10]);
    bench.send(1, ALL, &[11]);
    bench.wait(9_000);
    let outcomes: Vec<_> = bench.done.iter().map(|(_, done)| done.outcome).collect();
    assert_eq!(outcomes, [Outcome::Info, Outcome::Info]);
    assert!(bench.client.is_retired());
}

#[test]
fn rule_40_acks_0_is_ok_without_an_offset_when_its_bytes_are_out() {
    let mut bench = Bench::producer(Acks::Zero, |_| ());
    bench.send(0, ZERO, &[10]);
    bench.wait(100);
    let completion = bench.take();
    assert_eq!((completion.outcome, sent(&completion).0), (Outcome::Ok, None));
}

/// What was handed over after the writing that is told of may not be out.
#[test]
fn rule_40_acks_0_waits_for_its_own_bytes() {
    let mut bench = Bench::producer(Acks::Zero, |_| ());
    bench.send(0, ZERO, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ZERO, &[11]);
    let (conn, _) = bench.requests[0];
    let out = bench.sent[&conn];
    bench.send(1, ZERO, &[12]);
    bench.input(Input::Written(conn, out));
    assert_eq!(bench.done.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), [Slot(0)]);
    bench.input(Input::Written(conn, out + 1));
    assert_eq!(bench.done.len(), 2);
}

/// A deposed leader tells acks=0 of it by closing the connection, and in no other way.
#[test]
fn rule_36_acks_0_looks_for_the_leader_when_its_connection_is_closed() {
    let mut bench = Bench::producer(Acks::Zero, |_| ());
    bench.send(0, ZERO, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.wait(1_000);
    assert!(bench.requests.is_empty(), "nothing is asked for without a reason");
    let (conn, _) = bench.sent.last_key_value().expect("a request was sent");
    bench.input(Input::Closed(*conn));
    bench.wait(100);
    assert_eq!(bench.requests.len(), 1, "metadata is asked for");
}

#[test]
fn acks_0_is_doubt_when_the_connection_ends_before_its_bytes_are_out() {
    let mut bench = Bench::producer(Acks::Zero, |_| ());
    bench.send(0, ZERO, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ZERO, &[11]);
    bench.lose_answers();
    assert_eq!(bench.take().outcome, Outcome::Info);
}

#[test]
fn a_silent_broker_ends_an_attempt_in_time() {
    let mut bench = Bench::producer(Acks::One, |_| ());
    bench.send(0, ALL, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ALL, &[11]);
    bench.wait(3_499);
    assert!(bench.done.is_empty());
    bench.wait(1);
    assert_eq!(bench.take().error, Some("TIMEOUT"));
}

#[test]
fn an_undecodable_answer_is_doubt() {
    let mut bench = Bench::producer(Acks::One, |_| ());
    bench.send(0, ALL, &[10]);
    bench.wait(100);
    bench.take();
    bench.flowing = false;
    bench.send(0, ALL, &[11]);
    let (conn, frame) = bench.requests[0].clone();
    let mut answer = bench.broker.answer(frame).unwrap().to_vec();
    answer.truncate(answer.len() - 3);
    bench.input(Input::Frame(conn, answer.into()));
    assert_eq!(bench.take().error, Some("MALFORMED_ANSWER"));
}

fn assign(seek_to_beginning: bool) -> Op {
    Op::Assign { keys: vec![ALL, ZERO], seek_to_beginning }
}

fn polled(completion: &Completion) -> Vec<(u32, Vec<(i64, i64)>)> {
    let Gave::Polled { reads, .. } = &completion.gave else { panic!("not a poll") };
    let pairs = |read: &crate::op::KeyRead| {
        read.records.iter().map(|record| (record.0.unwrap(), record.1)).collect()
    };
    reads.iter().map(|(key, read)| (key.0, pairs(read))).collect()
}

fn plant(bench: &mut Bench, key: Key, payload: &[u8]) {
    bench.broker.plant(key, BatchBuilder::new().record(0, None, Some(payload), &[]).build());
}

#[test]
fn polls_go_on_where_they_stopped_and_start_over_when_told() {
    let mut bench = Bench::consumer();
    for value in 0..3 {
        plant(&mut bench, ALL, &value::encode("r7", "all-0", value, 0));
    }
    bench.op(assign(true));
    assert_eq!(polled(&bench.op(Op::Poll)), [(0, vec![(0, 0), (1, 1), (2, 2)])]);
    assert_eq!(polled(&bench.op(Op::Poll)), []);
    bench.op(assign(false));
    assert_eq!(polled(&bench.op(Op::Poll)), []);
    bench.op(assign(true));
    assert_eq!(polled(&bench.op(Op::Poll)), [(0, vec![(0, 0), (1, 1), (2, 2)])]);
}

/// As with `auto.offset.reset=earliest`, and in the open: the refused poll, an assignment from the
/// beginning, and what stands there.
#[test]
fn rule_58_a_consumer_whose_position_was_deleted_goes_on_at_the_log_start() {
    let mut bench = Bench::consumer();
    for value in 0..4 {
        plant(&mut bench, ALL, &value::encode("r7", "all-0", value, 0));
    }
    plant(&mut bench, ZERO, &value::encode("r7", "zero-0", 9, 0));
    bench.broker.starts.insert(ALL, 2);
    bench.op(assign(true));
    let refused = bench.op(Op::Poll);
    assert_eq!(polled(&refused), [(1, vec![(0, 9)])]);
    let Gave::Polled { errors, .. } = refused.gave else { unreachable!() };
    assert_eq!(errors, [(ALL, "OFFSET_OUT_OF_RANGE")]);
    bench.op(assign(true));
    let seen = polled(&bench.op(Op::Poll));
    assert_eq!(seen, [(0, vec![(2, 2), (3, 3)]), (1, vec![(0, 9)])]);
    // What is deleted meanwhile is asked for again.
    bench.op(assign(true));
    bench.broker.starts.insert(ALL, 3);
    assert_eq!(polled(&bench.op(Op::Poll)), [(0, vec![(3, 3)]), (1, vec![(0, 9)])]);
    assert_eq!(polled(&bench.op(Op::Poll)), []);
}

#[test]
fn a_log_start_that_nobody_tells_fails_the_poll_in_time() {
    let mut bench = Bench::consumer();
    bench.broker.starts.insert(ALL, 2);
    bench.op(assign(true));
    bench.op(Op::Poll);
    bench.op(assign(true));
    bench.flowing = false;
    bench.input(Input::Operate(Slot(0), Op::Poll));
    bench.wait(1_100);
    assert_eq!(bench.take().error, Some("TIMEOUT"));
}

#[test]
fn topics_without_ids_are_read_by_their_names() {
    let mut nameless = Catalog::default();
    for topic in catalog().topics() {
        nameless.add(topic.plan.clone(), topic.name.clone(), uuid::Uuid::nil());
    }
    let mut bench = Bench::on(nameless, |_| (), Client::consumer);
    plant(&mut bench, ALL, &value::encode("r7", "all-0", 5, 0));
    plant(&mut bench, ZERO, &value::encode("r7", "zero-0", 6, 0));
    bench.op(assign(true));
    assert_eq!(polled(&bench.op(Op::Poll)), [(0, vec![(0, 5)]), (1, vec![(0, 6)])]);
}

#[test]
fn rule_d19_a_damaged_or_misplaced_record_is_told_and_passed_over() {
    let mut bench = Bench::consumer();
    plant(&mut bench, ALL, b"garbage");
    plant(&mut bench, ALL, &value::encode("r7", "zero-0", 4, 0));
    plant(&mut bench, ALL, &value::encode("r7", "all-0", 9, 0));
    bench.op(assign(true));
    let completion = bench.op(Op::Poll);
    assert_eq!(polled(&completion), [(0, vec![(2, 9)])]);
    let Gave::Polled { reads, .. } = completion.gave else { unreachable!() };
    let strange: Vec<_> =
        reads[0].1.payload_errors.iter().map(|error| (error.offset, error.value)).collect();
    assert_eq!(strange, [(0, None), (1, Some(4))]);
}

#[test]
fn a_refused_poll_fails_and_moves_nothing() {
    let mut bench = Bench::consumer();
    plant(&mut bench, ALL, &value::encode("r7", "all-0", 5, 0));
    bench.op(assign(true));
    bench.broker.refuse_fetch = vec![NOT_LEADER];
    let refused = bench.op(Op::Poll);
    assert_eq!(refused.outcome, Outcome::Fail);
    assert_eq!(refused.error, Some(outcome::row(NOT_LEADER).name));
    assert_eq!(polled(&bench.op(Op::Poll)), [(0, vec![(0, 5)])]);
}

#[test]
fn a_poll_without_an_answer_fails_in_time() {
    let mut bench = Bench::consumer();
    bench.op(assign(true));
    bench.op(Op::Poll);
    bench.flowing = false;
    bench.input(Input::Operate(Slot(0), Op::Poll));
    bench.wait(1_100);
    assert_eq!(bench.take().error, Some("TIMEOUT"));
}
