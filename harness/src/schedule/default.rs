//! Chaos drawn from the seed: a kill, a pause and a partition in every run, more as time allows.

use highwater_workloads::random::stream;
use rand::{
    RngExt,
    seq::{IndexedRandom, SliceRandom},
};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::{Ask, Entry};

/// This schedule.
pub static ENTRY: Entry = Entry { make };

/// Time before the first fault, in milliseconds.
const QUIET_START_MS: u64 = 1_000;
/// Faults last for longer than a session and an election, so that leaders change.
const LASTS_MS: std::ops::Range<u64> = 2_000..3_000;
/// Quiet time after each fault.
const QUIET_MS: std::ops::Range<u64> = 700..1_500;

type Draw = fn(&mut ChaCha8Rng) -> (&'static str, Value);

/// What is drawn from.
struct Urn {
    /// What every run has: kill, pause, and a partition where there are links.
    always: [Draw; 3],
    /// What a run may have; each seed leaves some of them out.
    sometimes: &'static [Draw],
}

const REPLICATED: Urn = Urn {
    always: [kill, pause, partition],
    sometimes: &[stop, restart, leader_move, slow_link, reply_loss, partition, cut_clients, pause],
};
/// Without followers there is nobody to hand over to, and no link to slow.
const ALONE: Urn = Urn {
    always: [kill, pause_leader, isolate_leader],
    sometimes: &[stop, restart, reply_loss, cut_clients, pause_leader],
};
/// Without proxies there are no links to act on.
const UNLINKED: Urn =
    Urn { always: [kill, pause_leader, stop], sometimes: &[restart, stop, pause_leader] };

fn make(ask: &Ask) -> Value {
    let mut rng = stream(ask.seed, "schedule/default");
    let Urn { mut always, sometimes } = match ask {
        Ask { proxies: false, .. } => UNLINKED,
        Ask { replicas: 0 | 1, .. } => ALONE,
        Ask { .. } => REPLICATED,
    };
    always.shuffle(&mut rng);
    let kept: Vec<Draw> = sometimes.iter().copied().filter(|_| rng.random_bool(0.6)).collect();
    let mut steps = Vec::new();
    let mut spent = QUIET_START_MS;
    let mut wait = format!("after {QUIET_START_MS}ms");
    for nth in 0.. {
        let draw = match always.get(nth) {
            Some(draw) => *draw,
            None => *kept.choose(&mut rng).unwrap_or(&(kill as Draw)),
        };
        let (lasts, quiet) = (rng.random_range(LASTS_MS), rng.random_range(QUIET_MS));
        let (fault, with) = draw(&mut rng);
        spent += lasts + quiet;
        if nth >= always.len() && spent > ask.time_ms {
            break;
        }
        steps.push(json!({
            "when": wait, "do": fault, "with": with, "for": format!("{lasts}ms"),
        }));
        wait = format!("healed and after {}ms", lasts + quiet);
    }
    json!({
        "format": 1,
        "name": "default",
        "about": "Chaos drawn from the seed.",
        "steps": steps,
    })
}

fn kill(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("kill", json!({"aim": "leader"}))
}

fn pause(rng: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("pause", json!({"aim": one_of(&["leader", "follower"], rng)}))
}

fn pause_leader(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("pause", json!({"aim": "leader"}))
}

fn isolate_leader(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("isolate", json!({"aim": "leader"}))
}

fn partition(rng: &mut ChaCha8Rng) -> (&'static str, Value) {
    let role = one_of(&["leader", "follower"], rng);
    match rng.random_range(0..4) {
        0 => ("isolate", json!({"aim": role})),
        1 => ("isolate", json!({"aim": role, "from": ["brokers"]})),
        2 => ("split", json!({"side": "minority", "with_controllers": rng.random_bool(0.3)})),
        // A follower that leads nothing sends other followers nothing, but asks its leader.
        _ => ("cut", json!({"from": role, "to": peer_of(role), "ways": "one-way"})),
    }
}

fn peer_of(role: &str) -> &'static str {
    if role == "leader" { "followers" } else { "leader" }
}

fn stop(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("stop", json!({"aim": "one"}))
}

fn restart(rng: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("restart", json!({"aim": "one", "how": one_of(&["kill", "stop"], rng)}))
}

fn leader_move(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("leader-move", json!({}))
}

fn slow_link(rng: &mut ChaCha8Rng) -> (&'static str, Value) {
    let delay_ms = rng.random_range(5..150);
    ("slow-link", json!({"from": "leader", "to": "followers", "delay_ms": delay_ms}))
}

fn reply_loss(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("reply-loss", json!({"aim": "leader"}))
}

fn cut_clients(_: &mut ChaCha8Rng) -> (&'static str, Value) {
    ("cut", json!({"from": "clients", "to": "leader", "ways": "one-way"}))
}

fn one_of(words: &[&'static str], rng: &mut ChaCha8Rng) -> &'static str {
    words.choose(rng).expect("there is a word to choose")
}
