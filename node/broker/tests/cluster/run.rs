//! One schedule from its seed to its verdict.

use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater_node_core::rule::Rules;
use highwater_node_core::types::Time;
use rand::RngExt;

use super::checks::{Checked, Stats};
use super::client::{Admin, Client, Consumer, Producer};
use super::faults::Fault;
use super::world::{Event, World};

/// How long the cluster may take to serve at first.
const BOOT_LIMIT_MS: u64 = 20_000;
/// How long things go wrong.
const FAULTS_MS: u64 = 2_500;
/// Rules 81 and 82: how long recovery may take, session and lag limit and controller included.
const RECOVERY_LIMIT_MS: u64 = 6_000;

/// What a schedule gave.
pub struct Outcome {
    pub seed: u64,
    pub verdict: Result<Stats, String>,
    /// Equal in two runs of one seed.
    pub trace: u64,
}

/// Runs the schedule of this seed.
pub fn run(seed: u64, rules: Rules) -> Outcome {
    let mut world = World::new(seed, rules);
    let run = catch_unwind(AssertUnwindSafe(|| whole_run(&mut world)));
    let verdict = match run {
        Ok(Ok(())) => Ok(world.checks.stats),
        Ok(Err(violation)) => Err(violation),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.unwrap_or_else(|| "an assertion failed".to_owned()))
        }
    };
    Outcome { seed, verdict, trace: world.trace_number() }
}

/// The message of a failed seed, with the command that repeats it.
pub fn repeat_command(outcome: &Outcome) -> String {
    let found = outcome.verdict.as_ref().err().map_or("nothing", String::as_str);
    format!(
        "seed {}: {found}\nrepeat: HIGHWATER_SEED={} cargo test -p highwater-broker --test cluster \
         one_seed -- --nocapture",
        outcome.seed, outcome.seed
    )
}

fn whole_run(world: &mut World) -> Checked {
    let partitions = world.rng.random_range(1..=2);
    let min_isr = world.rng.random_range(1..=2);
    world.add_client(Client::Admin(Admin::new(1, partitions, min_isr)));
    until(world, BOOT_LIMIT_MS, "the topic is there", |world| world.topic_ready)?;
    for (id, acks, idempotent) in [(2, -1, true), (3, -1, false), (4, 1, false), (5, 0, false)] {
        world.add_client(Client::Producer(Producer::new(id, partitions, acks, idempotent)));
    }
    world.add_client(Client::Consumer(Consumer::new(6, partitions)));
    world.schedule_ms(50, Event::Fault(Fault::Strike));
    world.schedule_ms(FAULTS_MS, Event::Fault(Fault::End));
    until(world, 2 * FAULTS_MS, "the faults end", |world| world.faults_over)?;
    recover(world)?;
    world.checks.finish(|value| value / 1_000_000 == 2)
}

/// Rules 81 and 82: writes go on, and everything comes together again.
fn recover(world: &mut World) -> Checked {
    let healed = world.now;
    let goes_on = |client: &Client| match client {
        Client::Producer(p) => !p.wants_all() || p.last_ack.is_some_and(|at| at > healed),
        _ => true,
    };
    let all_go_on = |world: &World| world.seats.iter().all(|seat| goes_on(&seat.client));
    until(world, RECOVERY_LIMIT_MS, "rule 82: acks=all succeeds after the heal", all_go_on)?;
    for seat in &mut world.seats {
        if let Client::Producer(producer) = &mut seat.client {
            producer.stopped = true;
        }
    }
    until(world, RECOVERY_LIMIT_MS, "rule 81: all replicas are in sync", |world| {
        world.checks.is_whole()
    })
}

/// Lets events happen until something holds, within a limit.
fn until(world: &mut World, limit_ms: u64, what: &str, holds: impl Fn(&World) -> bool) -> Checked {
    let deadline: Time = world.now.plus_ms(limit_ms);
    while !holds(world) {
        if world.now > deadline {
            return Err(format!("not within {limit_ms} ms: {what}"));
        }
        world.advance()?;
    }
    Ok(())
}
