//! Each fault: what it does while in force, its proof, and that all is as before when healed.

use std::{sync::Arc, time::Duration};

use highwater_harness::{
    cluster::NodeState,
    fault::{self, Active},
    nemesis::{ClusterView, Ending, NotInstalled, Rng},
};
use rand::SeedableRng;
use serde_json::{Value, json};
use tokio::time;

use crate::bench::{Bench, LATE, Reach, view, without};

async fn install(bench: &Bench, name: &str, with: Value) -> Box<dyn Active> {
    let fault = fault::parse(name, &with).unwrap();
    fault.install(&bench.controls, Rng::seed_from_u64(7)).await.unwrap()
}

async fn proof(active: Box<dyn Active>) -> Value {
    match active.heal().await.unwrap() {
        Ending::Installed { proof } => proof,
        other => panic!("not installed: {other:?}"),
    }
}

async fn until_acted(active: &dyn Active) {
    let acted = async {
        while !active.acted() {
            time::sleep(Duration::from_millis(5)).await;
        }
    };
    time::timeout(LATE, acted).await.expect("the fault acts");
}

/// Installs a fault on links, waits for the reach it leaves, heals it, waits for all.
async fn on_links(bench: &Bench, name: &str, with: Value, meanwhile: Reach) -> Value {
    bench.until_whole().await;
    let active = install(bench, name, with).await;
    bench.until_reach(&meanwhile).await;
    until_acted(active.as_ref()).await;
    let proof = proof(active).await;
    bench.until_whole().await;
    proof
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_ends_nodes_by_signal_and_healing_starts_them() {
    let bench = Bench::start().await;
    let active = install(&bench, "kill", json!({"aim": "leader"})).await;
    assert_eq!(bench.state(1), NodeState::Down);
    assert_eq!(active.describe()["nodes"], json!([1]));
    assert_eq!(proof(active).await["exits"], json!({"1": "signal 9"}));
    bench.until_whole().await;
    bench.end().await;
}

/// Rule 81: that a node does not come back is for recovery to miss, and no failure of ours.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_does_not_come_back_leaves_the_kill_its_proof() {
    let bench = Bench::start().await;
    [1, 3].iter().for_each(|node| bench.break_start(*node));
    for (name, nodes) in [("kill", json!([1, 2])), ("restart", json!([3]))] {
        let with = json!({"aim": {"nodes": nodes}});
        let proof = proof(install(&bench, name, with).await).await;
        assert!(proof["not_back"].as_str().unwrap().contains("ended with exit status 64"));
    }
    let states = [1, 2, 3].map(|node| bench.state(node));
    assert_eq!(states, [NodeState::Down, NodeState::Running, NodeState::Down]);
    let gone = bench.controls.bring_up().await.unwrap();
    let nodes: Vec<i32> = gone.iter().map(|(node, _)| node.0).collect();
    assert_eq!(nodes, [1, 3]);
    assert!(gone[0].1.contains("node 1 ended with exit status 64 before it was ready"));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_does_not_come_back_hides_no_failure_of_ours() {
    let bench = Bench::start().await;
    bench.break_start(1);
    bench.lose_program(2);
    let active = install(&bench, "kill", json!({"aim": {"nodes": [1, 2]}})).await;
    assert!(matches!(active.heal().await, Err(NotInstalled::Harness(_))));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_nodes_in_order_and_healing_starts_them() {
    let bench = Bench::start().await;
    let active = install(&bench, "stop", json!({"aim": {"nodes": [2, 3]}})).await;
    assert_eq!((bench.state(2), bench.state(3)), (NodeState::Down, NodeState::Down));
    assert_eq!(proof(active).await["exits"], json!({"2": "exit status 0", "3": "exit status 0"}));
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_fault_heals_as_well() {
    let bench = Bench::start().await;
    drop(install(&bench, "kill", json!({"aim": "all"})).await);
    bench.until_whole().await;
    drop(install(&bench, "pause", json!({"aim": "all"})).await);
    drop(install(&bench, "isolate", json!({"aim": "leader"})).await);
    bench.until_whole().await;
    bench.end().await;
}

/// A run that was interrupted gives up what is in force and leaves no process behind.
#[tokio::test(flavor = "multi_thread")]
async fn what_heals_after_the_end_starts_nobody() {
    let bench = Bench::start().await;
    let kill = install(&bench, "kill", json!({"aim": {"nodes": [1, 2]}})).await;
    let stop = install(&bench, "stop", json!({"aim": {"nodes": [3]}})).await;
    bench.controls.cluster.kill_all().await;
    drop(kill);
    assert!(matches!(stop.heal().await, Err(NotInstalled::Harness(_))));
    assert!([1, 2, 3, 101].iter().all(|node| bench.state(*node) == NodeState::Down));
}

#[tokio::test(flavor = "multi_thread")]
async fn pause_stops_nodes_and_healing_resumes_them() {
    let bench = Bench::start().await;
    let active = install(&bench, "pause", json!({"aim": "controller"})).await;
    assert_eq!(bench.state(101), NodeState::Paused);
    let proof = proof(active).await;
    assert_eq!((&proof["state"], &proof["unanswered_probes"]), (&json!("T"), &json!(1)));
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restart_leaves_a_new_process() {
    let bench = Bench::start().await;
    for how in ["kill", "stop"] {
        let before = bench.controls.cluster.process(highwater_harness::cluster::NodeId(1));
        let with = json!({"aim": "leader", "how": how, "down_ms": 20});
        proof(install(&bench, "restart", with).await).await;
        let after = bench.controls.cluster.process(highwater_harness::cluster::NodeId(1));
        assert!(after.is_some() && after != before);
    }
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn isolate_cuts_a_node_off_but_not_from_clients() {
    let bench = Bench::start().await;
    let meanwhile = without(&[(1, 2), (1, 3), (1, 101)]);
    let proof = on_links(&bench, "isolate", json!({"aim": "leader"}), meanwhile).await;
    assert_eq!(proof["dropped"], json!([]), "the view was not refreshed");
    let from = json!(["controllers", "clients"]);
    let meanwhile = without(&[(1, 101), (0, 1)]);
    on_links(&bench, "isolate", json!({"aim": "leader", "from": from}), meanwhile).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_acts_between_nodes_and_between_clients_and_nodes() {
    let bench = Bench::start().await;
    let with = json!({"from": "leader", "to": "followers"});
    on_links(&bench, "cut", with, without(&[(1, 2), (1, 3)])).await;
    let with = json!({"from": {"nodes": [2]}, "to": {"nodes": [3]}, "ways": "one-way"});
    let proof = on_links(&bench, "cut", with, without(&[(2, 3)])).await;
    assert_eq!(proof.as_object().unwrap().len(), 1, "one direction, one rule");
    let with = json!({"from": "clients", "to": {"not": "leader"}});
    on_links(&bench, "cut", with, without(&[(0, 2), (0, 3)])).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn split_makes_two_sides() {
    let bench = Bench::start().await;
    let with = json!({"side": ["leader", {"nodes": [2]}]});
    let meanwhile = without(&[(1, 3), (2, 3), (1, 101), (2, 101)]);
    on_links(&bench, "split", with, meanwhile).await;
    let with = json!({"side": {"nodes": [3]}, "with_controllers": true});
    let meanwhile = without(&[(3, 1), (3, 2), (101, 1), (101, 2)]);
    on_links(&bench, "split", with, meanwhile).await;
    bench.end().await;
}

/// The pairs of nodes between which a fault has rules.
fn apart(active: &dyn Active) -> Vec<(i32, i32)> {
    let described = active.describe();
    let rules = described["rules"].as_array().unwrap().iter();
    let end = |rule: &Value, end: &str| rule["link"][end]["node"].as_i64().unwrap() as i32;
    rules.map(|rule| (end(rule, "from"), end(rule, "to"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn bridge_and_ring_leave_each_node_somebody_to_reach() {
    let bench = Bench::start().await;
    for (name, with, pairs) in
        [("bridge", json!({"over": {"nodes": [1]}}), 2), ("ring", json!({}), 2)]
    {
        bench.until_whole().await;
        let active = install(&bench, name, with).await;
        let apart = apart(active.as_ref());
        assert_eq!(apart.len(), 2 * pairs, "{name}: both directions");
        assert!(name == "ring" || apart.iter().all(|(from, to)| *from != 1 && *to != 1));
        bench.until_reach(&without(&apart)).await;
        until_acted(active.as_ref()).await;
        proof(active).await;
    }
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_link_keeps_bytes_until_they_are_due_or_it_heals() {
    let bench = Bench::start().await;
    bench.until_whole().await;
    let with = json!({"from": "leader", "to": "followers", "delay_ms": 120_000});
    let meanwhile = without(&[(1, 2), (1, 3)]);
    on_links(&bench, "slow-link", with, meanwhile).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_loss_keeps_answers_back() {
    let bench = Bench::start().await;
    let with = json!({"aim": "leader", "to": "followers"});
    bench.until_whole().await;
    let active = install(&bench, "reply-loss", with).await;
    let mut meanwhile = without(&[]);
    meanwhile.retain(|pair| ![(2, 1), (3, 1)].contains(pair));
    bench.until_reach(&meanwhile).await;
    until_acted(active.as_ref()).await;
    proof(active).await;
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hold_stops_one_api_and_releases_or_drops_it() {
    let bench = Bench::start().await;
    for (part, then) in [("request", "release"), ("answer", "drop")] {
        bench.until_whole().await;
        let with = json!({
            "from": "follower", "to": "leader", "api": "Fetch", "part": part, "then": then
        });
        let active = install(&bench, "hold", with).await;
        let rules = active.describe()["rules"].clone();
        assert_eq!(rules.as_array().unwrap().len(), 1);
        assert_eq!(rules[0]["api_key"], 1);
        bench.until_broken().await;
        until_acted(active.as_ref()).await;
        proof(active).await;
        bench.until_whole().await;
    }
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leader_move_is_proved_by_a_risen_epoch() {
    let bench = Bench::start().await;
    let mut moved: ClusterView = view();
    moved.time_ns = 2;
    moved.partitions.values_mut().for_each(|partition| partition.leader_epoch += 1);
    let seen = bench.view.clone();
    let engine = async {
        time::sleep(Duration::from_millis(50)).await;
        seen.send_replace(Arc::new(moved));
    };
    let with = json!({"of": "t-0", "to": 3});
    let (active, ()) = tokio::join!(install(&bench, "leader-move", with), engine);
    assert_eq!(active.describe()["to"], json!(3));
    assert_eq!(proof(active).await["leader_epochs"], json!([5, 6]));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rolling_restart_waits_for_full_isrs() {
    let bench = Bench::start().await;
    let clock = *bench.controls.cluster.journal().clock();
    let seen = bench.view.clone();
    let engine = tokio::spawn(async move {
        loop {
            let time_ns = clock.now_ns();
            seen.send_replace(Arc::new(ClusterView { time_ns, ..view() }));
            time::sleep(Duration::from_millis(20)).await;
        }
    });
    let proof = proof(install(&bench, "rolling-restart", json!({})).await).await;
    assert_eq!(proof["restarted"], json!([1, 2, 3]));
    engine.abort();
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn storm_draws_faults_until_it_is_healed() {
    let bench = Bench::start().await;
    let with = json!({
        "of": [{"fault": "kill"}, {"fault": "pause", "with": {"aim": "minority"}}],
        "hold_ms": [1, 20], "rest_ms": [0, 5]
    });
    let active = install(&bench, "storm", with).await;
    time::sleep(Duration::from_secs(2)).await;
    let proof = proof(active).await;
    let acted: u64 = proof.as_object().unwrap().values().filter_map(|v| v["acted"].as_u64()).sum();
    assert!(acted >= 2, "{proof}");
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_without_anybody_to_hit_is_skipped() {
    let bench = Bench::start().await;
    let mut nobody = view();
    nobody.partitions.clear();
    bench.view.send_replace(Arc::new(nobody));
    let fault = fault::parse("kill", &json!({"aim": "leader"})).unwrap();
    let outcome = fault.install(&bench.controls, Rng::seed_from_u64(1)).await.err();
    assert!(matches!(outcome, Some(NotInstalled::Skipped(_))));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_that_nothing_ran_into_is_indeterminate() {
    let bench = Bench::start().await;
    bench.until_whole().await;
    let active = install(&bench, "cut", json!({"from": "clients", "to": "leader"})).await;
    let ending = active.heal().await.unwrap();
    assert!(matches!(ending, Ending::Indeterminate { .. }), "{ending:?}");
    bench.end().await;
}
