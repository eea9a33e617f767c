//! `highwater run --plan`: what the seed gives, as JSON, without doing anything.

use highwater_workloads::{
    Catalog, Op,
    workload::{self, Seat},
};
use serde_json::{Value, json};

use super::{Exit, out};
use crate::run::Setup;

/// Operations shown of each client.
const SHOWN: usize = 10;

/// Prints the plan.
pub(super) fn print(setup: &Setup) -> Exit {
    let plan = of(setup);
    out::json(&plan);
    Exit::Valid
}

/// The plan: everything that was decided, and the first operations of each client.
fn of(setup: &Setup) -> Value {
    let workload = workload::find(&setup.workload).expect("the setup names a known workload");
    let mut catalog = Catalog::default();
    for topic in &setup.topics {
        catalog.add(topic.plan.clone(), topic.plan.label.clone(), uuid::Uuid::nil());
    }
    let mut generator = (workload.generator)(&setup.settings, &catalog, setup.seed);
    let seats = (workload.seats)(&setup.settings).len() as u32;
    let first = |seat: u32| -> Vec<Value> {
        (0..SHOWN)
            .map(|_| {
                let planned = generator.next(Seat(seat));
                let mut op = operation(&catalog, &planned.op);
                op["at_ms"] = json!(planned.start.time().as_nanos() / 1_000_000);
                op
            })
            .collect()
    };
    let operations: Vec<Vec<Value>> = (0..seats).map(first).collect();
    json!({"setup": setup, "operations": operations})
}

fn operation(catalog: &Catalog, op: &Op) -> Value {
    match op {
        Op::Send { key, values } => json!({"send": catalog.name(*key), "values": values}),
        Op::Poll => json!({"poll": null}),
        Op::Assign { keys, seek_to_beginning } => {
            let keys: Vec<&str> = keys.iter().map(|key| catalog.name(*key)).collect();
            json!({"assign": keys, "seek_to_beginning": seek_to_beginning})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::run::{RunArgs, setup::resolve};

    #[test]
    fn the_same_seed_gives_the_same_operations_and_values() {
        let plan = |seed| of(&resolve(&RunArgs::default(), seed).expect("the defaults fit"));
        assert_eq!(plan(3), plan(3));
        assert_ne!(plan(3)["operations"], plan(4)["operations"]);
    }
}
