//! The classes about the order of what one process sends.

use highwater_history::{Key, event::EventKind};

use super::{
    facts::Facts,
    history::Operation,
    tally::{Promised, Tally},
};

/// A process and two of its ok and info operations in a row that send to the key with a place:
/// from the last place of the earlier to the first of the later the step is below 1.
pub fn nonmonotonic_send(facts: &Facts, promised: &Promised) -> Tally {
    let mut tally = Tally::default();
    for operations in facts.by_process().into_values() {
        for key in facts.keys() {
            let unfailed = operations.iter().filter(|op| !op.is_fail());
            let places = unfailed.map(|op| facts.send_places(op, &key));
            let placed: Vec<_> = places.filter(|places| !places.is_empty()).collect();
            for pair in placed.windows(2) {
                let (last, first) = (pair[0][pair[0].len() - 1], pair[1][0]);
                if facts.step(&key, last, first) < 1 {
                    tally.add(!promised.idempotence);
                }
            }
        }
    }
    tally
}

/// Two sends of one ok or info operation to one key in a row whose step is below 1.
pub fn int_nonmonotonic_send(facts: &Facts, promised: &Promised) -> Tally {
    let back = inner_steps(facts).into_iter().filter(|step| *step < 1);
    back.map(|_| !promised.idempotence).collect()
}

/// Two sends of one ok or info operation to one key in a row whose step is above 1: normal.
pub fn int_send_skip(facts: &Facts, _: &Promised) -> Tally {
    inner_steps(facts).into_iter().filter(|step| *step > 1).map(|_| true).collect()
}

/// Steps between neighbouring sends to one key within each ok or info operation.
fn inner_steps(facts: &Facts) -> Vec<i64> {
    let mut steps = Vec::new();
    for op in facts.operations.iter().filter(|op| op.outcome != EventKind::Fail) {
        for key in facts.keys() {
            steps.extend(steps_of(facts, op, &key));
        }
    }
    steps
}

fn steps_of(facts: &Facts, op: &Operation, key: &Key) -> Vec<i64> {
    let places = facts.send_places(op, key);
    places.windows(2).map(|pair| facts.step(key, pair[0], pair[1])).collect()
}
