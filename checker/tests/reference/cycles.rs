//! The classes about transactions that precede each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::event::Function;

use super::{
    facts::Facts,
    history::Operation,
    tally::{Promised, Tally},
};

/// Why one operation precedes another.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    /// The other read what it sent.
    Read,
    /// The log has its record before the other's.
    Log,
    /// The same process went on to the other.
    Process,
    /// It ended before the other began.
    Time,
}

/// A name, the reasons that count for it, and whether a circle of these breaks a promise.
type Kind = (&'static str, &'static [Why], bool);

/// In the order in which they are looked for.
const KINDS: &[Kind] = &[
    ("G0", &[Why::Log], false),
    ("G1c", &[Why::Read], true),
    ("G1c", &[Why::Read, Why::Log], false),
    ("G0-process", &[Why::Log, Why::Process], false),
    ("G1c-process", &[Why::Read, Why::Process], true),
    ("G1c-process", &[Why::Read, Why::Log, Why::Process], false),
    ("G0-realtime", &[Why::Log, Why::Process, Why::Time], false),
    ("G1c-realtime", &[Why::Read, Why::Process, Why::Time], true),
    ("G1c-realtime", &[Why::Read, Why::Log, Why::Process, Why::Time], false),
];

/// The names of all.
pub const CYCLES: &[&str] =
    &["G0", "G1c", "G0-process", "G1c-process", "G0-realtime", "G1c-realtime"];

/// Every set of operations that all precede each other is one anomaly, under the fewest reasons:
/// it does not count again where it holds one that was counted under some of the same reasons. A
/// history without a `txn` has none.
pub fn all(facts: &Facts, promised: &Promised) -> BTreeMap<&'static str, Tally> {
    let mut tallies = BTreeMap::new();
    if !facts.operations.iter().any(|op| op.f == Function::Txn) {
        return tallies;
    }
    let links = links(facts);
    let mut counted: Vec<(&[Why], BTreeSet<usize>)> = Vec::new();
    for (name, whys, breaks) in KINDS {
        // Reads of who was promised no isolation close no circle that is forbidden.
        let forbidden = *breaks && !whys.contains(&Why::Time);
        if *breaks && promised.read_uncommitted {
            continue;
        }
        for circle in circles(facts.operations.len(), &links, whys) {
            let again = counted.iter().any(|(fewer, other)| {
                fewer.iter().all(|why| whys.contains(why)) && other.is_subset(&circle)
            });
            if !again {
                tallies.entry(*name).or_insert_with(Tally::default).add(!forbidden);
                counted.push((whys, circle));
            }
        }
    }
    tallies
}

type Link = (usize, usize, Why);

/// Which operation precedes which; those that failed did not happen.
fn links(facts: &Facts) -> Vec<Link> {
    let mut links = Vec::new();
    let operations: Vec<_> =
        facts.operations.iter().enumerate().filter(|(_, op)| !op.is_fail()).collect();
    for (a, one) in &operations {
        let mut next = operations.iter().filter(|(b, other)| b > a && other.process == one.process);
        links.extend(next.next().map(|(b, _)| (*a, *b, Why::Process)));
        for (b, other) in operations.iter().filter(|(b, _)| a != b) {
            if reads_from(other, one) {
                links.push((*a, *b, Why::Read));
            }
            if one.completed.is_some_and(|ended| ended.time < other.invoked.time) {
                links.push((*a, *b, Why::Time));
            }
        }
    }
    links.extend(log_links(facts).into_iter().filter(|(a, b, _)| {
        a != b && !facts.operations[*a].is_fail() && !facts.operations[*b].is_fail()
    }));
    links
}

fn reads_from(reader: &Operation, writer: &Operation) -> bool {
    let mut reads = reader.reads.iter();
    reads.any(|read| {
        let mut sends = writer.sends.iter();
        sends.any(|send| (&send.key, send.value) == (&read.key, read.value))
    })
}

/// The senders of neighbours in a log, where offsets at which two values are known are left out.
fn log_links(facts: &Facts) -> Vec<Link> {
    let mut links = Vec::new();
    for (key, offsets) in &facts.known {
        let single = offsets.values().filter(|values| values.len() == 1).flatten();
        let senders = single.map(|value| {
            let mut operations = facts.operations.iter();
            operations
                .position(|op| op.sends.iter().any(|send| (&send.key, &send.value) == (key, value)))
        });
        let senders: Vec<Option<usize>> = senders.collect();
        for pair in senders.windows(2) {
            if let [Some(one), Some(next)] = *pair {
                links.push((one, next, Why::Log));
            }
        }
    }
    links
}

/// The largest sets of two or more operations that all precede each other for these reasons.
fn circles(operations: usize, links: &[Link], whys: &[Why]) -> Vec<BTreeSet<usize>> {
    let mut reached = vec![vec![0u64; operations.div_ceil(64)]; operations];
    for (from, to, _) in links.iter().filter(|(.., why)| whys.contains(why)) {
        reached[*from][to / 64] |= 1 << (to % 64);
    }
    let reaches = |row: &[u64], to: usize| row[to / 64] >> (to % 64) & 1 == 1;
    for through in 0..operations {
        let row = reached[through].clone();
        for from in reached.iter_mut().filter(|from| reaches(from, through)) {
            from.iter_mut().zip(&row).for_each(|(to, more)| *to |= more);
        }
    }
    let mut circles = BTreeSet::new();
    for a in 0..operations {
        let both = |b: &usize| reaches(&reached[a], *b) && reaches(&reached[*b], a);
        circles.insert((0..operations).filter(both).collect::<BTreeSet<_>>());
    }
    circles.into_iter().filter(|circle| circle.len() >= 2).collect()
}
