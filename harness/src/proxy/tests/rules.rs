//! Each action, from both sides of a link, and what is left after it healed.

use std::time::Instant;

use rand::{RngExt, SeedableRng};

use super::*;

const FETCH: i16 = 77;
const OTHER: i16 = 78;

#[tokio::test]
async fn without_rules_everything_passes_in_order() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    let mut rng = Rng::seed_from_u64(1);
    for _ in 0..200 {
        let size = rng.random_range(0..200_000);
        client.round_trip(OTHER, &vec![9; size]).await;
    }
    assert!(bench.net.failures().is_empty());
}

#[tokio::test]
async fn what_a_link_carried_is_counted_by_direction() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, &[9; 1_000]).await;
    client.round_trip(OTHER, &[9; 500]).await;
    // A request: size, API, version, correlation id, client id "probe"; an answer: size and id.
    let carried =
        [(Link::to_node(ONE), 1_500 + 2 * 19), (Link::to_node(ONE).reversed(), 1_500 + 2 * 8)];
    let all_there = async {
        while bench.net.traffic() != carried.into() {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(LATE, all_there).await.is_ok(), "{:?}", bench.net.traffic());
}

#[tokio::test]
async fn a_cut_of_requests_withholds_them_and_delivers_them_in_order_when_healed() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, b"before").await;
    let cut = bench.rule(Link::to_node(ONE), Action::Cut);
    client.ask(OTHER, b"one").await;
    client.ask(OTHER, b"two").await;
    assert!(client.hears_nothing().await);
    assert!(acted(&cut).await);
    assert_eq!(cut.stats().frames, 2);
    drop(cut);
    assert_eq!(client.hear_soon().await, (1, b"one".to_vec()));
    assert_eq!(client.hear_soon().await, (2, b"two".to_vec()));
    client.round_trip(OTHER, b"after").await;
}

#[tokio::test]
async fn a_cut_of_answers_lets_requests_through() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, b"before").await;
    let cut = bench.rule(Link::to_node(ONE).reversed(), Action::Cut);
    client.ask(OTHER, b"heard").await;
    assert!(acted(&cut).await, "the node answered, so it got the request");
    assert!(client.hears_nothing().await);
    drop(cut);
    assert_eq!(client.hear_soon().await.1, b"heard");
}

#[tokio::test]
async fn a_cut_hits_only_its_link() {
    let bench = Bench::new().await;
    let _cut = bench.rule(Link::to_node(ONE), Action::Cut);
    bench.client_of(TWO).await.round_trip(OTHER, b"past").await;
    let internal = bench.place(ONE, Listener::Internal);
    bench.pids.add(std::process::id() as i32, TWO);
    Caller::connect(internal).await.round_trip(OTHER, b"past").await;
}

#[tokio::test]
async fn a_new_connection_hangs_in_a_cut_of_either_direction_and_opens_when_healed() {
    let bench = Bench::new().await;
    for link in [Link::to_node(ONE), Link::to_node(ONE).reversed()] {
        let cut = bench.rule(link, Action::Cut);
        let mut client = bench.client_of(ONE).await;
        client.ask(OTHER, b"patient").await;
        assert!(client.hears_nothing().await);
        assert_eq!(cut.stats().hung_connections, 1);
        drop(cut);
        assert_eq!(client.hear_soon().await.1, b"patient");
    }
}

#[tokio::test]
async fn what_a_caller_sent_who_gave_up_before_the_handshake_never_arrives() {
    let bench = Bench::new().await;
    let cut = bench.rule(Link::to_node(ONE), Action::Cut);
    let mut client = bench.client_of(ONE).await;
    client.ask(OTHER, b"forgotten").await;
    assert!(acted(&cut).await);
    drop(client);
    wait_for_connections(&bench, 0).await;
}

#[tokio::test]
async fn a_cut_acts_on_connections_that_the_far_end_opened() {
    let bench = Bench::new().await;
    bench.pids.add(std::process::id() as i32, TWO);
    let mut two = Caller::connect(bench.place(ONE, Listener::Internal)).await;
    two.round_trip(FETCH, b"before").await;
    let cut = bench.rule(Link::nodes(ONE, TWO), Action::Cut);
    two.ask(FETCH, b"answer me").await;
    assert!(acted(&cut).await, "node 1 sent bytes to node 2: an answer");
    assert!(two.hears_nothing().await);
    drop(cut);
    assert_eq!(two.hear_soon().await.1, b"answer me");
}

#[tokio::test]
async fn a_slow_link_delays_and_paces() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, b"before").await;
    let action = Action::Slow { delay_ms: 100, bytes_per_s: None };
    let slow = bench.rule(Link::to_node(ONE), action);
    let start = Instant::now();
    client.round_trip(OTHER, b"late").await;
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert!(slow.stats().acted());
    drop(slow);
    let action = Action::Slow { delay_ms: 0, bytes_per_s: Some(1_000_000) };
    let _paced = bench.rule(Link::to_node(ONE), action);
    let start = Instant::now();
    client.round_trip(OTHER, &vec![3; 200_000]).await;
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(180), "200 kB at 1 MB/s took only {took:?}");
}

#[tokio::test]
async fn lost_answers_never_come_and_their_connections_are_reset_at_the_end() {
    let bench = Bench::new().await;
    let (mut hit, mut idle) = (bench.client_of(ONE).await, bench.client_of(ONE).await);
    hit.round_trip(OTHER, b"before").await;
    idle.round_trip(OTHER, b"before").await;
    let loss = bench.rule(Link::to_node(ONE).reversed(), Action::LoseAnswers);
    hit.ask(OTHER, b"lost").await;
    assert!(acted(&loss).await);
    assert!(hit.hears_nothing().await);
    drop(loss);
    let error = timeout(LATE, hit.hear()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    idle.round_trip(OTHER, b"untouched").await;
}

#[tokio::test]
async fn a_hold_stops_one_kind_of_request_and_what_follows_it() {
    let bench = Bench::new().await;
    let (mut fetcher, mut other) = (bench.client_of(ONE).await, bench.client_of(ONE).await);
    let action = Action::Hold { api_key: FETCH, part: Part::Request };
    let hold = bench.rule(Link::to_node(ONE), action);
    other.round_trip(OTHER, b"passes").await;
    fetcher.ask(OTHER, b"before").await;
    fetcher.ask(FETCH, b"held").await;
    fetcher.ask(OTHER, b"behind").await;
    assert_eq!(fetcher.hear_soon().await.1, b"before");
    assert!(fetcher.hears_nothing().await);
    assert_eq!(hold.stats().frames, 2);
    drop(hold);
    assert_eq!(fetcher.hear_soon().await.1, b"held");
    assert_eq!(fetcher.hear_soon().await.1, b"behind");
}

#[tokio::test]
async fn a_held_answer_can_be_dropped_with_its_connection() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    let action = Action::Hold { api_key: FETCH, part: Part::Answer };
    let hold = bench.rule(Link::to_node(ONE).reversed(), action);
    client.round_trip(OTHER, b"passes").await;
    client.ask(FETCH, b"dropped").await;
    assert!(acted(&hold).await);
    hold.discard();
    assert!(timeout(LATE, client.hear()).await.unwrap().is_err());
}

#[tokio::test]
async fn connections_of_an_ended_process_are_reset_at_once() {
    let bench = Bench::new().await;
    let own = std::process::id() as i32;
    bench.pids.add(own, TWO);
    let mut two = Caller::connect(bench.place(ONE, Listener::Internal)).await;
    two.round_trip(FETCH, b"before").await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, b"before").await;
    let _cut = bench.rule(Link::nodes(TWO, ONE), Action::Cut);
    bench.pids.remove(own);
    assert!(timeout(LATE, two.hear()).await.unwrap().is_err());
    client.round_trip(OTHER, b"still there").await;
}

#[tokio::test]
async fn a_caller_whose_name_is_not_its_processs_is_a_harness_failure() {
    let bench = Bench::new().await;
    bench.pids.add(std::process::id() as i32, TWO);
    let mut honest = Caller::connect(bench.place(ONE, Listener::Internal)).await;
    honest.name = "broker-2-fetcher-0";
    honest.round_trip(FETCH, b"").await;
    assert_eq!(bench.net.failures(), Vec::<String>::new());
    let mut liar = Caller::connect(bench.place(ONE, Listener::Internal)).await;
    liar.name = "broker-3-fetcher-0";
    let told = async { tokio::join!(liar.round_trip(FETCH, b""), bench.net.failed()).1 };
    let why = timeout(LATE, told).await.expect("it is told at once");
    assert!(why.contains("broker-3-fetcher-0"), "{why}");
    assert_eq!(bench.net.failures(), [why]);
}

#[tokio::test]
async fn the_end_of_a_connection_passes_both_ways() {
    let bench = Bench::new().await;
    let mut client = bench.client_of(ONE).await;
    client.round_trip(OTHER, b"last").await;
    drop(client);
    wait_for_connections(&bench, 0).await;
}

#[tokio::test]
async fn a_node_that_does_not_listen_resets_its_callers() {
    let bench = Bench::new().await;
    let mut ports = PortPool::new();
    let mut plan = bench.plan.clone();
    for place in plan.nodes.values_mut().flat_map(|node| node.listeners.values_mut()) {
        place.proxy.set_port(ports.take().unwrap());
        place.real.set_port(ports.take().unwrap());
    }
    let front = plan.nodes[&ONE].place(Listener::Client).unwrap();
    let other = TempDir::new().unwrap();
    let journal = Arc::new(Journal::create(other.path(), RunClock::start()).unwrap());
    let _net = ProxyNet::start(&plan, Arc::default(), journal).await.unwrap();
    let mut caller = Caller::connect(front).await;
    assert!(timeout(LATE, caller.hear()).await.unwrap().is_err());
}

#[tokio::test]
async fn every_rule_is_journalled_and_taken_back() {
    let bench = Bench::new().await;
    let cut = bench.rule(Link::nodes(ONE, TWO), Action::Cut);
    let journal = || std::fs::read_to_string(bench.path().join("journal.jsonl")).unwrap();
    assert_eq!(journal().lines().count(), 2);
    drop(cut);
    assert_eq!(journal().lines().count(), 3);
}

async fn wait_for_connections(bench: &Bench, count: usize) {
    let gone = async {
        while bench.net.connections() != count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(LATE, gone).await.expect("connections end");
}
