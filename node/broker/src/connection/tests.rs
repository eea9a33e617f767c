//! One request at a time, limits, and silence.

use bytes::Bytes;
use highwater_node_core::types::Time;

use super::*;

const A: ConnId = ConnId(2);
const B: ConnId = ConnId(4);

struct Bench {
    connections: Connections,
    out: Effects,
}

impl Bench {
    fn new() -> Bench {
        let limits = ConnectionLimits { connections: 2, idle_ns: 1_000_000_000 };
        let mut connections = Connections::new(limits);
        connections.serve_clients();
        Bench { connections, out: Vec::new() }
    }

    fn accept(&mut self, conn: ConnId, kind: ListenerKind) {
        let names = ("L".to_owned(), "peer".to_owned());
        self.connections.accept(Time(0), conn, kind, names, &mut self.out);
    }

    fn receive(&mut self, conn: ConnId, length: usize) {
        self.connections.receive(Time(0), conn, Bytes::from(vec![0; length]), &mut self.out);
    }

    fn next(&mut self) -> Option<(ConnId, u64)> {
        self.connections.next(&mut self.out).map(|arrival| (arrival.conn, arrival.serial))
    }

    fn effects(&mut self) -> Vec<String> {
        self.out.drain(..).map(|effect| format!("{effect:?}")).collect()
    }
}

#[test]
fn a_second_request_waits_for_the_answer_to_the_first_and_disturbs_nobody_else() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.accept(B, ListenerKind::Broker);
    bench.receive(A, 1);
    bench.receive(A, 2);
    bench.receive(B, 3);
    let first = bench.next().unwrap();
    assert_eq!(first.0, A);
    assert_eq!(bench.next().unwrap().0, B);
    assert_eq!(bench.next(), None);
    assert!(bench.connections.finish(Time(0), A, first.1));
    assert_eq!(bench.next().unwrap().0, A);
}

#[test]
#[should_panic(expected = "answered once")]
fn a_request_cannot_be_answered_twice() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.receive(A, 1);
    let (_, serial) = bench.next().unwrap();
    bench.connections.finish(Time(0), A, serial);
    bench.connections.finish(Time(0), A, serial);
}

#[test]
fn the_answer_to_a_connection_that_is_gone_goes_nowhere() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.receive(A, 1);
    let (_, serial) = bench.next().unwrap();
    assert!(bench.connections.forget(A));
    assert!(!bench.connections.finish(Time(0), A, serial));
    bench.receive(A, 1);
    assert_eq!(bench.next(), None);
}

#[test]
fn a_connection_that_sends_without_reading_answers_is_paused_and_resumed() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    (0..MAX_WAITING_FRAMES + 2).for_each(|_| bench.receive(A, 1));
    assert_eq!(bench.effects(), ["Pause { conn: ConnId(2) }"]);
    let mut resumed = Vec::new();
    for _ in 0..3 {
        let (conn, serial) = bench.next().unwrap();
        bench.connections.finish(Time(0), conn, serial);
        resumed.extend(bench.effects());
    }
    assert_eq!(resumed, ["Resume { conn: ConnId(2) }"]);
}

#[test]
fn one_large_request_pauses_its_connection_until_it_is_served() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.receive(A, MAX_WAITING_BYTES);
    assert_eq!(bench.effects(), ["Pause { conn: ConnId(2) }"]);
    bench.next().unwrap();
    assert_eq!(bench.effects(), ["Resume { conn: ConnId(2) }"]);
}

#[test]
fn one_connection_too_many_is_closed() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.accept(B, ListenerKind::Broker);
    assert!(bench.effects().is_empty());
    bench.accept(ConnId(6), ListenerKind::Broker);
    assert_eq!(bench.effects(), ["Close { conn: ConnId(6) }"]);
}

#[test]
fn silence_closes_a_connection_but_waiting_for_an_answer_does_not() {
    let mut bench = Bench::new();
    bench.accept(A, ListenerKind::Broker);
    bench.accept(B, ListenerKind::Broker);
    bench.receive(B, 1);
    bench.next().unwrap();
    bench.connections.close_idle(Time(1_000_000_000), &mut bench.out);
    assert!(bench.effects().is_empty());
    bench.connections.close_idle(Time(1_000_000_001), &mut bench.out);
    assert_eq!(bench.effects(), ["Close { conn: ConnId(2) }"]);
}

#[test]
fn clients_wait_until_the_broker_serves_and_the_controller_listener_does_not() {
    let mut bench = Bench::new();
    bench.connections.serving_clients = false;
    bench.accept(A, ListenerKind::Broker);
    bench.accept(B, ListenerKind::Controller);
    bench.receive(A, 1);
    bench.receive(B, 1);
    assert_eq!(bench.next().unwrap().0, B);
    assert_eq!(bench.next(), None);
    bench.connections.serve_clients();
    assert_eq!(bench.next().unwrap().0, A);
}
