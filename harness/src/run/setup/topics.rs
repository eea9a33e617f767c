//! The topics of a run: from its options and its schedule to assignments and settings.

use std::collections::BTreeMap;

use highwater_workloads::{random::stream, topic::TopicPlan};
use rand::seq::SliceRandom;

use super::{BadOption, Properties, TopicSetup, agrees, bad, key_value};
use crate::{
    run::RunArgs,
    steps::{Schedule, Source},
};

/// The topics to create: each partition's replicas, each topic's settings.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do.
pub(super) fn of(
    args: &RunArgs,
    (schedule, source): (&Schedule, &Source),
    plans: Vec<TopicPlan>,
    nodes: u32,
    seed: u64,
) -> Result<Vec<TopicSetup>, BadOption> {
    let fixed = schedule.settings.assignment.clone();
    let default = fixed.as_ref().map_or(nodes.min(3), |fixed| fixed.len() as u32);
    let replicas = args.replication_factor.unwrap_or(default);
    if let Some(fixed) = fixed.as_ref().filter(|fixed| fixed.len() as u32 != replicas) {
        let name = &schedule.name;
        return bad(format!(
            "--replication-factor {replicas} contradicts schedule {name}, which assigns replicas \
             {fixed:?}; leave it out"
        ));
    }
    if let Some(fixed) = &fixed {
        assignment(args, (schedule, source), fixed, nodes)?;
    }
    if replicas == 0 || replicas > nodes {
        return bad(format!("--replication-factor {replicas}: there are {nodes} brokers"));
    }
    let mut common = Properties::new();
    if replicas >= 3 {
        common.insert("min.insync.replicas".into(), "2".into());
    }
    common.extend(schedule.settings.topic.clone());
    for text in &args.topic_config {
        let (key, value) = key_value("--topic-config", text)?;
        let option = format!("--topic-config {text}");
        agrees(&option, &schedule.settings.topic, (&key, &value), schedule)?;
        common.insert(key, value);
    }
    let own = topic_options(args, schedule, &plans)?;
    let mut order: Vec<i32> = (1..=nodes as i32).collect();
    order.shuffle(&mut stream(seed, "assignment"));
    let mut nth = 0;
    let setup = |plan: TopicPlan| {
        let mut configs = common.clone();
        configs.extend(plan.configs.clone());
        configs.extend(own.get(&plan.label).cloned().unwrap_or_default());
        let assignment = (0..plan.partitions).map(|_| {
            nth += 1;
            fixed.clone().unwrap_or_else(|| {
                let from = order.iter().cycle().skip(nth);
                from.take(replicas as usize).copied().collect()
            })
        });
        let assignment = assignment.collect();
        TopicSetup { plan, configs, assignment }
    };
    Ok(plans.into_iter().map(setup).collect())
}

/// Whether a schedule's assignment can be: different replicas, all of them brokers of this run.
fn assignment(
    args: &RunArgs,
    (schedule, source): (&Schedule, &Source),
    fixed: &[i32],
    nodes: u32,
) -> Result<(), BadOption> {
    let wrong = |why: &str| Err(source.wrong("settings.assignment", why).into());
    if fixed.is_empty() {
        return wrong("a partition has at least one replica");
    }
    if fixed.iter().enumerate().any(|(at, node)| fixed[..at].contains(node)) {
        return wrong("a node holds one replica of a partition, not two");
    }
    let stranger = fixed.iter().find(|node| !(1..=nodes as i32).contains(*node));
    match (stranger, args.nodes) {
        (None, _) => Ok(()),
        (Some(node), Some(_)) => {
            let name = &schedule.name;
            bad(format!("--nodes {nodes}: schedule {name} assigns replicas to node {node}"))
        }
        (Some(node), None) => wrong(&format!("no broker {node} in this run; there are {nodes}")),
    }
}

fn topic_options(
    args: &RunArgs,
    schedule: &Schedule,
    plans: &[TopicPlan],
) -> Result<BTreeMap<String, Properties>, BadOption> {
    let mut own: BTreeMap<String, Properties> = BTreeMap::new();
    for text in &args.topic {
        let Some((label, configs)) = text.split_once(':') else {
            return bad(format!("--topic {text}: write LABEL:KEY=VALUE,KEY=VALUE"));
        };
        if !plans.iter().any(|plan| plan.label == label) {
            let known: Vec<&str> = plans.iter().map(|plan| plan.label.as_str()).collect();
            let known = known.join(", ");
            return bad(format!("--topic {text}: no topic `{label}` in this run; known: {known}"));
        }
        for config in configs.split(',') {
            let (key, value) = key_value("--topic", config)?;
            let option = format!("--topic {text}");
            agrees(&option, &schedule.settings.topic, (&key, &value), schedule)?;
            own.entry(label.to_owned()).or_default().insert(key, value);
        }
    }
    Ok(own)
}
