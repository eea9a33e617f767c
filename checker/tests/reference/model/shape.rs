//! What one seed decides about a whole history: its size, and which features occur how often.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The shape of a history; a percentage of 0 switches a feature off.
pub struct Shape {
    /// How many operations are begun, final reads not counted.
    pub operations: usize,
    pub keys: i32,
    pub processes: usize,
    /// How often an operation is a transaction, an assignment, a poll; else it is a send.
    pub transactions: u32,
    pub assignments: u32,
    pub polls: u32,
    /// How often an assignment is a subscribe, and how often one goes back to the beginning.
    pub subscribes: u32,
    pub seeks: u32,
    /// How often an operation fails, and how often nobody knows.
    pub fails: u32,
    pub infos: u32,
    /// How often a process goes on after an unknown outcome.
    pub goes_on: u32,
    /// How often offsets are left out, of acknowledgements and of polls.
    pub null_acks: u32,
    pub null_reads: u32,
    pub gaps: u32,
    /// How often the nemesis speaks.
    pub faults: u32,
}

impl Shape {
    pub fn of(rng: &mut ChaCha8Rng) -> Self {
        Self {
            operations: rng.random_range(3..=30),
            keys: rng.random_range(1..=3),
            processes: rng.random_range(1..=4),
            transactions: pick(rng, &[0, 0, 20, 60]),
            assignments: pick(rng, &[0, 5, 15]),
            polls: pick(rng, &[30, 50, 70]),
            subscribes: pick(rng, &[0, 0, 50, 100]),
            seeks: pick(rng, &[0, 30]),
            fails: pick(rng, &[0, 10, 25]),
            infos: pick(rng, &[0, 10, 30]),
            goes_on: pick(rng, &[0, 50]),
            null_acks: pick(rng, &[0, 0, 20]),
            null_reads: pick(rng, &[0, 0, 0, 15]),
            gaps: pick(rng, &[0, 20]),
            faults: pick(rng, &[0, 3]),
        }
    }
}

fn pick(rng: &mut ChaCha8Rng, choices: &[u32]) -> u32 {
    choices[rng.random_range(0..choices.len())]
}

/// Whether something happens that does so in this percentage of cases.
pub fn chance(rng: &mut ChaCha8Rng, percent: u32) -> bool {
    rng.random_range(0..100) < percent
}
