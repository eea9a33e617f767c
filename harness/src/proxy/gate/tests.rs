//! How far bytes may go under each rule, without sockets.

use super::*;
use crate::{
    cluster::NodeId,
    proxy::{LinkRule, scan::Exchange},
};

const LINK: Link =
    Link { from: crate::proxy::Endpoint::Clients, to: crate::proxy::Endpoint::Node(NodeId(1)) };

/// A request without client id; 14 bytes and its body.
fn request(api_key: i16, body: usize) -> Vec<u8> {
    let mut frame = (10 + body as i32).to_be_bytes().to_vec();
    frame.extend(api_key.to_be_bytes());
    frame.extend([0; 6]);
    frame.extend((-1i16).to_be_bytes());
    frame.extend(vec![0; body]);
    frame
}

fn stream(frames: &[Vec<u8>], now: Instant) -> Stream {
    let mut stream = Stream::new(Part::Request);
    let bytes = frames.concat();
    stream.space().unwrap().extend_from_slice(&bytes);
    stream.took(bytes.len(), now, &Exchange::default());
    stream
}

fn gate(actions: &[Action]) -> (Gate, Vec<Arc<ActiveRule>>) {
    let table = RuleTable::default();
    let rules: Vec<Arc<ActiveRule>> = actions
        .iter()
        .map(|action| Arc::new(ActiveRule::new(LinkRule { link: LINK, action: *action })))
        .collect();
    rules.iter().for_each(|rule| table.insert(Arc::clone(rule)));
    let mut gate = Gate::new(Part::Request);
    assert_eq!(gate.refresh(&table, LINK), Change::GoOn);
    (gate, rules)
}

#[test]
fn without_rules_all_may_go() {
    let now = Instant::now();
    let (mut gate, _) = gate(&[]);
    let stream = stream(&[request(1, 5)], now);
    assert_eq!(gate.allow(&stream, now), Allowed { upto: 19, wake: None });
}

#[test]
fn a_cut_counts_each_byte_once() {
    let now = Instant::now();
    let (mut gate, rules) = gate(&[Action::Cut]);
    let stream = stream(&[request(1, 5), request(1, 0)], now);
    for _ in 0..3 {
        assert_eq!(gate.allow(&stream, now).upto, 0);
    }
    let stats = rules[0].stats();
    assert_eq!((stats.bytes, stats.frames), (33, 2));
    assert!(gate.withholds_end());
}

#[test]
fn a_hold_lets_pass_what_came_before() {
    let now = Instant::now();
    let hold = Action::Hold { api_key: 1, part: Part::Request };
    let (mut gate, rules) = gate(&[hold]);
    let stream = stream(&[request(0, 2), request(1, 5), request(0, 0)], now);
    assert_eq!(gate.allow(&stream, now).upto, 16);
    assert_eq!(rules[0].stats().frames, 2);
}

#[test]
fn a_hold_of_answers_leaves_requests_alone() {
    let now = Instant::now();
    let (mut gate, rules) = gate(&[Action::Hold { api_key: 1, part: Part::Answer }]);
    assert_eq!(gate.allow(&stream(&[request(1, 5)], now), now).upto, 19);
    assert!(!rules[0].stats().acted());
}

#[test]
fn a_delay_wakes_when_the_first_bytes_are_due() {
    let now = Instant::now();
    let (mut gate, _) = gate(&[Action::Slow { delay_ms: 50, bytes_per_s: None }]);
    let stream = stream(&[request(1, 5)], now);
    let due = now + Duration::from_millis(50);
    assert_eq!(gate.allow(&stream, now), Allowed { upto: 0, wake: Some(due) });
    assert_eq!(gate.allow(&stream, due), Allowed { upto: 19, wake: None });
}

#[test]
fn a_bandwidth_lets_one_burst_go_and_wakes_for_the_next() {
    let now = Instant::now();
    let (mut gate, _) = gate(&[Action::Slow { delay_ms: 0, bytes_per_s: Some(1_000) }]);
    let mut stream = stream(&[request(1, 86)], now);
    assert_eq!(gate.allow(&stream, now).upto, 10);
    stream.left(10);
    gate.sent(10, now);
    let next = now + Duration::from_millis(10);
    assert_eq!(gate.allow(&stream, now), Allowed { upto: 10, wake: Some(next) });
    assert_eq!(gate.allow(&stream, next).upto, 20);
}

#[test]
fn the_strictest_of_several_rules_decides() {
    let now = Instant::now();
    let slow = Action::Slow { delay_ms: 0, bytes_per_s: None };
    let (mut gate, rules) = gate(&[slow, Action::Cut]);
    assert_eq!(gate.allow(&stream(&[request(1, 5)], now), now).upto, 0);
    assert!(rules[1].stats().acted() && !rules[0].stats().acted());
}
