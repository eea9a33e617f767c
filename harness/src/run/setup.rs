//! The whole setting of one run, from its options and its schedule: a pure function of both.

mod preflight;
mod shortfall;
mod topics;

use std::collections::BTreeMap;

use clap::ValueEnum as _;
use highwater_history::event::{Acks, Isolation};
use highwater_workloads::{
    Settings,
    settings::{AcksMode, ClientTimeouts},
    topic::TopicPlan,
    workload,
};
pub use preflight::{Admitted, admit};
use serde::Serialize;
use shortfall::Kind;

use super::{
    args::{AcksOption, IsolationOption, Preset, RunArgs, Switch, TimingOption},
    needs,
};
use crate::{
    cluster::{ControllerPlacement, NodeId, is_planned},
    schedule::{self, Ask, Loaded},
    steps::{
        Schedule, ScheduleError, Span,
        mentions::{self, Cast},
    },
    target::{self, Capabilities, Needs, TargetOptions},
};

/// Why options are refused; one sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadOption(pub String);

impl From<ScheduleError> for BadOption {
    fn from(error: ScheduleError) -> Self {
        BadOption(error.to_string())
    }
}

/// Everything that is decided before a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setup {
    /// Decides all the rest.
    pub seed: u64,
    /// `--target`.
    pub target: String,
    /// What that kind of target has.
    pub capabilities: Capabilities,
    /// Known bugs that are switched on.
    pub mutants: Vec<String>,
    /// Feature levels of the new cluster that are not the target's usual ones.
    pub features: BTreeMap<String, String>,
    /// Brokers.
    pub nodes: u32,
    /// Where the controllers live.
    pub controllers: ControllerPlacement,
    /// How long faults may last, in milliseconds.
    pub time_ms: u64,
    /// Name of the timing profile.
    pub timing: &'static str,
    /// Properties of all nodes.
    pub properties: BTreeMap<String, String>,
    /// Properties of single nodes.
    pub node_properties: BTreeMap<i32, BTreeMap<String, String>>,
    /// Topics to create.
    pub topics: Vec<TopicSetup>,
    /// Name of the workload.
    pub workload: String,
    /// What workload and clients are told; the run id is filled in by the run.
    pub settings: Settings,
    /// Samples a second.
    pub sample_hz: u32,
    /// `--max-unavailable`.
    pub max_unavailable: Option<Span>,
    /// `--max-recovery`.
    pub max_recovery: Option<Span>,
    /// What happens.
    pub schedule: Schedule,
}

impl Setup {
    /// What the target is told when it is opened.
    #[must_use]
    pub fn target_options(&self) -> TargetOptions {
        TargetOptions {
            version: None,
            mutants: self.mutants.clone(),
            features: self.features.clone(),
        }
    }
}

/// A topic to create.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicSetup {
    /// Label, partitions, acks level.
    #[serde(flatten)]
    pub plan: TopicPlan,
    /// Its settings.
    pub configs: BTreeMap<String, String>,
    /// Replicas of each partition in assignment order.
    pub assignment: Vec<Vec<i32>>,
}

const DEFAULT_TIME: Span = Span(60_000);
const MAX_NODES: u32 = Capabilities::ALL.brokers;
/// The longest `--time`: what a run writes grows with it.
const MAX_TIME: Span = Span(24 * 60 * 60 * 1_000);
/// The most samples a second: their period is whole milliseconds.
const MAX_SAMPLE_HZ: u32 = 1_000;

/// Decides everything for `seed`.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do.
pub fn resolve(args: &RunArgs, seed: u64) -> Result<Setup, BadOption> {
    let mut args = args.clone();
    limits(&args)?;
    let name = args.schedule.clone().unwrap_or_else(|| "default".into());
    let target = args.target.clone().unwrap_or_else(|| "node".into());
    let (kind, version) = target::known(&target).map_err(|error| BadOption(error.to_string()))?;
    let has = kind.capabilities;
    let asked_time = args.time.unwrap_or(DEFAULT_TIME);
    let (replicas, proxies) = (replicas(&args, &has), has.proxies);
    let ask = Ask { seed, time_ms: asked_time.0, replicas, proxies };
    let Loaded { schedule, source } = schedule::load(&name, &ask)?;
    needs::apply(&mut args, &schedule, &source)?;
    preset(&mut args, &schedule)?;
    // The schedule may have set some.
    limits(&args)?;
    let workload_name = args.workload.clone().unwrap_or_else(|| "log".into());
    let Some(workload) = workload::find(&workload_name) else {
        let known: Vec<&str> = workload::TABLE.iter().map(|(name, _, _)| *name).collect();
        let known = known.join(", ");
        return bad(format!("unknown workload `{workload_name}`; known: {known}"));
    };
    let settings = settings(&args, &schedule);
    settings.validate().map_err(|error| BadOption(error.to_string()))?;
    let nodes = args.nodes.unwrap_or_else(|| usual_nodes(&has));
    if nodes == 0 || nodes > MAX_NODES {
        return bad(format!("--nodes {nodes}: 1 to {MAX_NODES} brokers fit on one machine"));
    }
    if let Some(key) = schedule.settings.broker.keys().find(|key| is_planned(key)) {
        let field = format!("settings.broker.{key}");
        return Err(source.wrong(&field, "the harness decides it; leave it out").into());
    }
    let controllers = controllers(&args, &has)?;
    Kind { name: &target, has: &has }.admit(&args, &schedule, (nodes, controllers))?;
    let (properties, node_properties) = match has.properties {
        true => properties(&args, &schedule)?,
        false => Default::default(),
    };
    let mut mutants = schedule.settings.mutants.clone();
    mutants.extend(args.mutant.iter().cloned());
    let features = features(&args, &schedule)?;
    let needs = Needs { version, mutants: &mutants, features: &features, controllers };
    if let Some(why) = (kind.lacks)(&needs) {
        return bad(why);
    }
    let plans = (workload.topics)(&settings);
    let topics = topics::of(&args, (&schedule, &source), plans, nodes, seed)?;
    let cast = cast(nodes, controllers, &topics);
    mentions::all_there(&schedule.steps, &cast)
        .map_err(|stray| source.wrong(&stray.field, &stray.problem))?;
    Ok(Setup {
        seed,
        target,
        capabilities: has,
        mutants,
        features,
        nodes,
        controllers,
        time_ms: args.time.unwrap_or(DEFAULT_TIME).0,
        timing: timing_name(&args),
        properties,
        node_properties,
        topics,
        workload: workload_name,
        settings,
        sample_hz: args.sample_hz.unwrap_or(5),
        max_unavailable: args.max_unavailable,
        max_recovery: args.max_recovery,
        schedule,
    })
}

/// Whom and what a schedule may speak of.
fn cast(nodes: u32, controllers: ControllerPlacement, topics: &[TopicSetup]) -> Cast {
    let brokers: Vec<NodeId> = (1..=nodes as i32).map(NodeId).collect();
    let keys = topics.iter().flat_map(|topic| {
        (0..topic.plan.partitions).map(|nth| format!("{}-{nth}", topic.plan.label))
    });
    Cast {
        keys: keys.collect(),
        nodes: brokers.iter().copied().chain(controllers.own_ids()).collect(),
        brokers: brokers.into_iter().collect(),
    }
}

/// Replicas of each partition, as far as the options say.
fn replicas(args: &RunArgs, has: &Capabilities) -> u32 {
    let usual = if args.preset == Some(Preset::Default) { 1 } else { 3 };
    args.replication_factor.unwrap_or(usual).min(args.nodes.unwrap_or_else(|| usual_nodes(has)))
}

/// Brokers, where nobody says how many.
fn usual_nodes(has: &Capabilities) -> u32 {
    has.brokers.min(3)
}

fn bad<T>(problem: String) -> Result<T, BadOption> {
    Err(BadOption(problem))
}

/// Refuses numbers and paths with which the harness could not do its work.
fn limits(args: &RunArgs) -> Result<(), BadOption> {
    if args.out.to_str().is_none() {
        let out = args.out.display();
        return bad(format!("--out {out}: no UTF-8 text, as the nodes' configuration is"));
    }
    if let Some(time) = args.time.filter(|time| *time > MAX_TIME) {
        return bad(format!("--time {time}: at most 24 hours fit, write {MAX_TIME} or less"));
    }
    if let Some(hz) = args.sample_hz.filter(|hz| *hz > MAX_SAMPLE_HZ) {
        return bad(format!("--sample-hz {hz}: at most {MAX_SAMPLE_HZ} a second fit"));
    }
    Ok(())
}

/// Refuses what stands against a setting that the schedule needs.
fn agrees(
    option: &str,
    needed: &Properties,
    (key, value): (&str, &str),
    schedule: &Schedule,
) -> Result<(), BadOption> {
    match needed.get(key) {
        Some(needed) if needed != value => bad(format!(
            "{option} contradicts schedule {}, which needs {key}={needed}; leave it out",
            schedule.name
        )),
        _ => Ok(()),
    }
}

fn preset(args: &mut RunArgs, schedule: &Schedule) -> Result<(), BadOption> {
    let Some(preset) = args.preset else { return Ok(()) };
    let name = preset.to_possible_value().map(|value| format!("--preset {}", value.get_name()));
    let name = name.unwrap_or_default();
    let (acks, replicas, min_isr) = match preset {
        Preset::Durable | Preset::Audit => (AcksOption::All, 3, "2"),
        Preset::Metrics => (AcksOption::One, 3, "1"),
        Preset::Default => (AcksOption::All, 1, "1"),
    };
    let level = if acks == AcksOption::One { "1" } else { "all" };
    for wanted in [("acks", level), ("replication-factor", &replicas.to_string())] {
        agrees(&name, &schedule.settings.options, wanted, schedule)?;
    }
    args.acks.get_or_insert(acks);
    args.replication_factor.get_or_insert(replicas);
    let mut configs = vec![format!("min.insync.replicas={min_isr}")];
    if preset == Preset::Audit {
        configs.push("flush.messages=1".into());
    }
    if preset == Preset::Metrics {
        configs.push("unclean.leader.election.enable=true".into());
    }
    for config in &configs {
        let (key, value) = config.split_once('=').expect("a preset's own settings are pairs");
        agrees(&name, &schedule.settings.topic, (key, value), schedule)?;
    }
    // What the user says comes later and wins.
    configs.append(&mut args.topic_config);
    args.topic_config = configs;
    Ok(())
}

fn settings(args: &RunArgs, schedule: &Schedule) -> Settings {
    let default = Settings::default();
    let acks = match args.acks.unwrap_or(AcksOption::Mix) {
        AcksOption::Zero => AcksMode::Only(Acks::Zero),
        AcksOption::One => AcksMode::Only(Acks::One),
        AcksOption::All => AcksMode::Only(Acks::All),
        AcksOption::Mix => AcksMode::Mix,
    };
    let topics = if acks == AcksMode::Mix { default.topics } else { 1 };
    Settings {
        run_id: String::new(),
        acks,
        idempotence: args.idempotence.map_or(default.idempotence, |on| on == Switch::On),
        retries: args.retries.map_or(default.retries, |on| on == Switch::On),
        producers: args.producers.unwrap_or(default.producers),
        consumers: args.consumers.unwrap_or(default.consumers),
        in_flight: default.in_flight,
        topics: args.topics.unwrap_or(topics),
        partitions: args.partitions.unwrap_or(default.partitions),
        rate: args.rate.unwrap_or(default.rate),
        poll_rate: args.poll_rate.unwrap_or(default.poll_rate),
        value_size: args.value_size.unwrap_or(default.value_size),
        isolation: match args.isolation {
            Some(IsolationOption::ReadUncommitted) => Isolation::ReadUncommitted,
            Some(IsolationOption::ReadCommitted) | None => Isolation::ReadCommitted,
        },
        timeouts: schedule.settings.client.unwrap_or_else(|| default_timeouts(args)),
    }
}

fn default_timeouts(args: &RunArgs) -> ClientTimeouts {
    match args.timing {
        Some(TimingOption::Default) => {
            ClientTimeouts { request_ms: 12_000, delivery_ms: 40_000, ..Default::default() }
        }
        Some(TimingOption::Fast) | None => ClientTimeouts::default(),
    }
}

fn timing_name(args: &RunArgs) -> &'static str {
    match args.timing {
        Some(TimingOption::Default) => "default",
        Some(TimingOption::Fast) | None => "fast",
    }
}

/// Time limits of the cluster, as Kafka's properties.
fn timing(args: &RunArgs) -> [(&'static str, &'static str); 4] {
    let [session, heartbeat, lag, wait] = match args.timing {
        Some(TimingOption::Default) => ["9000", "2000", "30000", "500"],
        Some(TimingOption::Fast) | None => ["1500", "300", "1000", "200"],
    };
    [
        ("broker.session.timeout.ms", session),
        ("broker.heartbeat.interval.ms", heartbeat),
        ("replica.lag.time.max.ms", lag),
        ("replica.fetch.wait.max.ms", wait),
    ]
}

type Properties = BTreeMap<String, String>;

fn properties(
    args: &RunArgs,
    schedule: &Schedule,
) -> Result<(Properties, BTreeMap<i32, Properties>), BadOption> {
    let mut all: Properties =
        timing(args).iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    all.insert("auto.create.topics.enable".into(), "false".into());
    all.extend(schedule.settings.broker.clone());
    let mut single: BTreeMap<i32, Properties> = BTreeMap::new();
    for text in &args.set {
        let (key, value) = key_value("--set", text)?;
        match key.split_once(':') {
            Some((node, key)) => {
                let node = node.parse().map_err(|_| {
                    BadOption(format!("--set {text}: `{node}` is no node id; write 2:KEY=VALUE"))
                })?;
                if JUDGED_BY.contains(&key) {
                    let why = "promises and time limits follow it, so all nodes must have the same";
                    return bad(format!("--set {text}: {why}; write --set {key}={value}"));
                }
                may_be_set(text, key, &value, schedule)?;
                single.entry(node).or_default().insert(key.to_owned(), value);
            }
            None => {
                may_be_set(text, &key, &value, schedule)?;
                all.insert(key, value);
            }
        }
    }
    Ok((all, single))
}

/// Feature levels: the schedule's, and the user's where these do not contradict.
fn features(args: &RunArgs, schedule: &Schedule) -> Result<Properties, BadOption> {
    let mut all = schedule.settings.features.clone();
    for text in &args.feature {
        let (name, level) = key_value("--feature", text)?;
        let option = format!("--feature {text}");
        agrees(&option, &schedule.settings.features, (&name, &level), schedule)?;
        all.insert(name, level);
    }
    Ok(all)
}

/// Properties that say what the run promises and how long things may take.
const JUDGED_BY: [&str; 5] = [
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "log.flush.interval.messages",
    "broker.session.timeout.ms",
    "replica.lag.time.max.ms",
];

fn may_be_set(text: &str, key: &str, value: &str, schedule: &Schedule) -> Result<(), BadOption> {
    if is_planned(key) {
        return bad(format!("--set {text}: {key} is decided by the harness; leave it out"));
    }
    agrees(&format!("--set {text}"), &schedule.settings.broker, (key, value), schedule)
}

fn key_value(option: &str, text: &str) -> Result<(String, String), BadOption> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => bad(format!("{option} {text}: write KEY=VALUE")),
    }
}

fn controllers(args: &RunArgs, has: &Capabilities) -> Result<ControllerPlacement, BadOption> {
    match args.controllers.as_deref() {
        None if has.controllers => Ok(ControllerPlacement::Separate(1)),
        None => Ok(ControllerPlacement::None),
        Some("combined") => Ok(ControllerPlacement::Combined),
        Some(count) => match count.parse() {
            Ok(count @ 1..=9) => Ok(ControllerPlacement::Separate(count)),
            _ => bad(format!("--controllers {count}: write 1 to 9, or combined")),
        },
    }
}
