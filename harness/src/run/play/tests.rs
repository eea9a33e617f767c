//! Schedules played on a cluster of shell scripts: what is decided, and what is drawn.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use highwater_history::outcome::{FaultOutcome, FaultStatus};
use highwater_workloads::{Acks, Catalog, driver::Progress, topic::TopicPlan};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Played, Player, Stage};
use crate::{
    clock::RunClock,
    cluster::{
        NodeId,
        tests::{Bench, ORDERLY},
    },
    nemesis::{ClusterView, Controls, PartitionView},
    steps::Schedule,
};

fn led_by(node: impl Into<Option<i32>>) -> ClusterView {
    let leader = node.into().map(NodeId);
    let partition = PartitionView { leader, ..PartitionView::default() };
    let partitions = BTreeMap::from([("run-all-0".parse().unwrap(), partition)]);
    ClusterView { partitions, ..ClusterView::default() }
}

/// Plays these steps; what is seen is at first one thing and a moment later the other.
async fn play(views: [ClusterView; 2], steps: Value) -> Played {
    play_for(Duration::ZERO, views, json!({"format": 1, "name": "t", "steps": steps})).await
}

async fn play_for(time: Duration, views: [ClusterView; 2], schedule: Value) -> Played {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start_all().await.unwrap();
    let (_counts, progress) = watch::channel(Progress::default());
    let mut catalog = Catalog::default();
    let plan = TopicPlan::new("all", 1, Acks::All);
    catalog.add(plan, "run-all".into(), uuid::Uuid::nil());
    let [first, second] = views.map(Arc::new);
    let (views, view) = watch::channel(first);
    let stage = Stage {
        controls: Controls { view, ..bench.controls(ClusterView::default()).await },
        progress,
        clock: RunClock::start(),
        catalog: Arc::new(catalog),
        seed: 1,
        tell: Arc::new(|_| ()),
    };
    let schedule: Schedule = serde_json::from_value(schedule).unwrap();
    let (healing, _healed) = watch::channel(None);
    let change = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        views.send_replace(second);
    };
    let playing = Player::new(stage, healing).play(&schedule, time);
    let (played, ()) = tokio::join!(playing, change);
    bench.cluster.kill_all().await;
    played.unwrap()
}

/// docs/schedules.md: a check that could not be decided says why and is not broken.
#[tokio::test]
async fn a_check_on_what_was_never_observed_is_undecided() {
    let (nothing, nobody) = (ClusterView::default(), led_by(None));
    for (views, held) in [
        ([led_by(2), led_by(1)], Some(true)),
        ([led_by(2), led_by(2)], Some(false)),
        ([led_by(2), nobody], Some(false)),
        ([nothing.clone(), nothing], None),
    ] {
        let steps = json!([{"check": "leader(all-0) == 1", "within": "90ms", "claim": "1 leads"}]);
        let played = play(views, steps).await;
        let [assertion] = &*played.assertions else { panic!("one check") };
        assert_eq!(assertion.held, held);
        assert_eq!(assertion.reason.is_some(), held.is_none());
    }
}

/// What a fault draws hangs on the seed and its place, not on what became of those before it.
#[tokio::test]
async fn a_condition_that_was_missed_shifts_no_later_draw() {
    let drawn = async |first: &str| {
        let kill = |when: &str| {
            let with = json!({"aim": "one"});
            json!({"when": when, "within": "1s", "do": "kill", "with": with, "for": "1ms"})
        };
        let mut steps = vec![kill(first)];
        steps[0]["within"] = json!("30ms");
        steps.extend((0..6).map(|_| kill("healed")));
        let mut played = play([led_by(1), led_by(1)], json!(steps)).await;
        assert!(played.faults.iter().skip(1).all(|fault| fault.status == FaultStatus::Installed));
        played.faults.split_off(1).into_iter().map(|fault| fault.targets).collect::<Vec<_>>()
    };
    assert_eq!(drawn("leader(all-0) == 1").await, drawn("leader(all-0) == 2").await);
}

/// docs/schedules.md: the steps are played once whatever the time; only repetitions end with it.
#[tokio::test]
async fn a_schedule_that_repeats_is_played_once_in_full_however_short_the_time() {
    for (time_ms, repetitions) in [(0, 0), (100, 0), (700, 1)] {
        let kill =
            json!({"when": "after 150ms", "do": "kill", "with": {"aim": "one"}, "for": "1ms"});
        let schedule =
            json!({"format": 1, "name": "t", "repeat": true, "steps": [kill, {"when": "healed"}]});
        let time = Duration::from_millis(time_ms);
        let played = play_for(time, [led_by(1), led_by(1)], schedule).await;
        let installed = |fault: &&FaultOutcome| fault.status == FaultStatus::Installed;
        let kills = played.faults.iter().filter(installed).count();
        assert!(if repetitions == 0 { kills == 1 } else { kills > repetitions }, "{kills}");
    }
}
