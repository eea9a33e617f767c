//! Many seeds, one seed again, and the mutants that some seeds must find.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use highwater_node_core::mutant;
use highwater_node_core::rule::Rules;

use super::run::{Outcome, repeat_command, run};

/// How many seeds run when `HIGHWATER_SEEDS` does not say.
const SEEDS: u64 = 4_000;

#[allow(clippy::disallowed_methods, reason = "how much is tested is the caller's choice")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs all seeds on all cores; gives the outcomes in order of seeds.
fn run_all(seeds: u64, rules: Rules) -> Vec<Outcome> {
    let next = AtomicU64::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return outcomes;
            }
            outcomes.push(run(seed, rules));
        }
    };
    let mut outcomes: Vec<Outcome> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("runs catch panics")).collect()
    });
    outcomes.sort_by_key(|outcome| outcome.seed);
    outcomes
}

#[test]
fn every_seed_keeps_every_invariant() {
    let outcomes = run_all(number("HIGHWATER_SEEDS").unwrap_or(SEEDS), Rules::default());
    let failed: Vec<String> =
        outcomes.iter().filter(|o| o.verdict.is_err()).map(repeat_command).collect();
    assert!(failed.is_empty(), "{} seeds failed:\n{}", failed.len(), failed.join("\n"));
    let sum = |count: fn(&super::checks::Stats) -> u64| {
        outcomes.iter().filter_map(|o| o.verdict.as_ref().ok()).map(count).sum::<u64>()
    };
    let seeds = outcomes.len() as u64;
    let (acked, one) = (sum(|s| s.acked_all), sum(|s| s.acked_one));
    let (read, leaders) = (sum(|s| s.read), sum(|s| s.leaders));
    let (truncations, kills) = (sum(|s| s.truncations), sum(|s| s.kills));
    println!(
        "{seeds} seeds: {acked} acks=all, {one} acks=1, {read} reads, {leaders} leaders, \
         {truncations} truncations, {kills} kills"
    );
    assert!(acked > 20 * seeds && read > 50 * seeds, "too little was written and read");
    assert!(leaders > 2 * seeds && kills > seeds, "too little went wrong");
    assert!(truncations > seeds / 10, "no log ever diverged");
}

#[test]
fn one_seed() {
    let outcome = run(number("HIGHWATER_SEED").unwrap_or(0), Rules::default());
    assert!(outcome.verdict.is_ok(), "{}", repeat_command(&outcome));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 4] {
        let (first, second) = (run(seed, Rules::default()), run(seed, Rules::default()));
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert_eq!(first.verdict, second.verdict, "seed {seed}");
    }
    assert_ne!(run(3, Rules::default()).trace, run(4, Rules::default()).trace);
}

fn found_within(id: &str, seeds: u64) {
    let mut rules = Rules::default();
    (mutant::find(id).expect("a mutant").apply)(&mut rules);
    let found = (0..seeds).find_map(|seed| run(seed, rules).verdict.err().map(|v| (seed, v)));
    let (seed, violation) = found.unwrap_or_else(|| panic!("{id} is not found in {seeds} seeds"));
    println!("{id} is found by seed {seed}: {violation}");
}

#[test]
fn mutant_hw_26_is_found() {
    found_within("HW-26", 60);
}

#[test]
fn mutant_fen_01_is_found() {
    found_within("FEN-01", 200);
}

#[test]
fn mutant_hw_09_is_found() {
    found_within("HW-09", 20);
}

#[test]
fn mutant_id_01_is_found() {
    found_within("ID-01", 40);
}

#[test]
fn mutant_hw_01_is_found() {
    found_within("HW-01", 60);
}

#[test]
fn mutant_hw_02_is_found() {
    found_within("HW-02", 60);
}

#[test]
fn mutant_hw_12_is_found() {
    found_within("HW-12", 60);
}

#[test]
fn mutant_hw_31_is_found() {
    found_within("HW-31", 60);
}

#[test]
fn mutant_isr_01_is_found() {
    found_within("ISR-01", 60);
}

#[test]
fn mutant_el_01_is_found() {
    found_within("EL-01", 200);
}
