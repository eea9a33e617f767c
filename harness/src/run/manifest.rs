//! The manifest of a run.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Manifest, Promise,
    event::Acks,
    format::Document,
    manifest::{Clocks, Floor, Kind, Machine, Node, Target, Timing, Topic, Workload},
    promise::Promises,
};
use highwater_workloads::{settings::AcksMode, value, workload};
use serde_json::{Map, json};

use super::{setup::Setup, world::World};
use crate::target::Capabilities;

/// Describes the run that is about to begin.
#[must_use]
pub fn of(setup: &Setup, world: &World, command: &[String], reproduce: &str) -> Manifest {
    let workload = workload::find(&setup.workload).expect("the setup names a known workload");
    let property = |name: &str| setup.properties.get(name).and_then(|value| value.parse().ok());
    Manifest {
        format: Manifest::FORMAT,
        run: world.run_id.clone(),
        seed: setup.seed,
        command: command.to_vec(),
        reproduce: Some(reproduce.to_owned()),
        commit: super::COMMIT.to_owned(),
        target: target(setup, world),
        timing: Timing {
            profile: setup.timing.to_owned(),
            session_ms: property("broker.session.timeout.ms").unwrap_or(9_000),
            heartbeat_ms: property("broker.heartbeat.interval.ms").unwrap_or(2_000),
            lag_limit_ms: property("replica.lag.time.max.ms").unwrap_or(30_000),
        },
        workload: Workload {
            name: setup.workload.clone(),
            options: json!(setup.settings),
            value_bytes: Some(payload_bytes(setup, world)),
            floors: floors(workload, setup),
        },
        claims: workload.claims.iter().map(|claim| (*claim).to_owned()).collect(),
        schedule: json!(setup.schedule),
        expect: setup.schedule.expect.clone(),
        promises: promises(setup, world),
        clocks: Clocks { wall_ns: world.clock.unix_zero_ns(), monotonic_ns: monotonic_zero(world) },
        machine: machine(),
        extra: Map::new(),
    }
}

/// The least that must happen: what the workload wants, and each kind of fault at least once.
fn floors(workload: &workload::Entry, setup: &Setup) -> Vec<Floor> {
    let wanted = (workload.floors)(&setup.settings).into_iter();
    let wanted = wanted.map(|floor| Floor { floor: floor.name.to_owned(), wanted: floor.wanted });
    let faults: BTreeSet<_> =
        setup.schedule.steps.iter().filter_map(|step| step.act.fault.as_ref()).collect();
    let faults = faults.into_iter().map(|kind| Floor { floor: format!("fault.{kind}"), wanted: 1 });
    wanted.chain(faults).collect()
}

/// Bytes of a usual record's payload: an unpadded one grows with the digits of its value.
fn payload_bytes(setup: &Setup, world: &World) -> u64 {
    const USUAL_VALUE: i64 = 10_000;
    let key = setup.topics.first().map_or("", |topic| &topic.plan.label);
    let size = setup.settings.value_size as usize;
    value::encode(&world.run_id, &format!("{key}-0"), USUAL_VALUE, size).len() as u64
}

fn target(setup: &Setup, world: &World) -> Target {
    let plan = world.cluster.plan();
    let described = world.cluster.target().describe();
    let node = |node: &crate::cluster::NodePlan| Node {
        id: node.id.0,
        roles: [("broker", node.roles.broker), ("controller", node.roles.controller)]
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(role, _)| role.to_owned())
            .collect(),
        properties: plan.properties_of(node),
    };
    let topic = |topic: &super::setup::TopicSetup| Topic {
        name: format!("{}-{}", world.run_id, topic.plan.label),
        assignment: topic.assignment.clone(),
        configs: topic.configs.clone(),
    };
    Target {
        name: setup.target.clone(),
        version: described.get("version").and_then(|v| v.as_str()).unwrap_or("").to_owned(),
        nodes: plan.nodes.values().map(node).collect(),
        topics: setup.topics.iter().map(topic).collect(),
        mutants: setup.mutants.clone(),
        without: without(&setup.capabilities),
    }
}

/// The evidence that nobody can have of such a target.
fn without(has: &Capabilities) -> Vec<Kind> {
    let kinds = [(has.logs, Kind::Dumps), (has.controllers, Kind::Metadata)];
    kinds.into_iter().filter(|(has, _)| !has).map(|(_, kind)| kind).collect()
}

/// What settings promise, by contract part c.
fn promises(setup: &Setup, world: &World) -> Promises {
    let run = Promise {
        acks: match setup.settings.acks {
            AcksMode::Only(acks) => Some(acks),
            AcksMode::Mix => None,
        },
        idempotence: Some(setup.settings.idempotence),
        isolation: Some(setup.settings.isolation),
        ..Promise::default()
    };
    let topics = setup.topics.iter().map(|topic| {
        let setting = |name: &str, property: &str| {
            topic.configs.get(name).or_else(|| setup.properties.get(property))
        };
        let unclean = "unclean.leader.election.enable";
        let min_isr = setting("min.insync.replicas", "min.insync.replicas");
        let flush = setting("flush.messages", "log.flush.interval.messages");
        let promise = Promise {
            acks: Some(topic.plan.acks),
            // Kafka promises idempotence for acks=all only.
            idempotence: Some(setup.settings.idempotence && topic.plan.acks == Acks::All),
            isolation: None,
            min_insync_replicas: Some(min_isr.and_then(|v| v.parse().ok()).unwrap_or(1)),
            unclean_election: Some(setting(unclean, unclean).is_some_and(|v| v == "true")),
            flush_messages: flush.and_then(|v| v.parse().ok()),
            extra: Map::new(),
        };
        (format!("{}-{}", world.run_id, topic.plan.label), promise)
    });
    Promises { run, topics: topics.collect::<BTreeMap<_, _>>() }
}

/// The machine's monotonic clock at the run's zero, in nanoseconds since its start.
fn monotonic_zero(world: &World) -> u64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds: f64 = uptime.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    ((seconds * 1e9) as u64).saturating_sub(world.clock.now_ns())
}

fn machine() -> Machine {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let memory = read("/proc/meminfo");
    let kib = memory.lines().next().and_then(|line| line.split_whitespace().nth(1));
    Machine {
        system: format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024,
    }
}
