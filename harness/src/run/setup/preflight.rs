//! Asks the target whether it takes what a run would give it, before anything of the run is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
    time::Duration,
};

use super::{BadOption, Setup, TopicSetup, resolve};
use crate::{
    clock::RunClock,
    cluster::{Cluster, ClusterPlan, ControllerPlacement, NodeId},
    disk,
    journal::Journal,
    ports::PortPool,
    run::{
        Failure, Interrupts, RunArgs,
        world::{self, new_run_id},
    },
    scratch::Scratch,
    target::{self, Target, TargetOptions, Training},
};

/// The setting of every topic with followers: no target needs to be asked about it.
const USUAL: (&str, &str) = ("min.insync.replicas", "2");
/// Where the configurations stand that nodes are asked about.
const ASKED: &str = "asked";
/// Where the node stands that is started once to make later starts shorter.
const TRAINED: &str = "trained";
/// How long it may take to end.
const TRAINED_WITHIN: Duration = Duration::from_secs(60);
/// What names of topics that are only tried begin with.
const TRIED: &str = "tried";

/// What a run and its plan begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    /// Everything that was decided.
    pub setup: Setup,
    /// Properties that the target says have no effect.
    pub without_effect: BTreeSet<String>,
}

/// Decides everything for `seed` and has the target check it.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do; or that the target cannot run here.
pub fn admit(args: &RunArgs, seed: u64) -> Result<Admitted, Failure> {
    let setup = resolve(args, seed)?;
    disk::for_schedule(&setup.schedule)?;
    // Goes last: processes that may still write into it end with the runtime.
    let scratch = Scratch::make(&new_run_id())
        .map_err(|(path, error)| Failure::Harness(format!("{}: {error}", path.display())))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked =
        runtime.block_on(async { Interrupts::listen().unless(ask(&setup, scratch.path())).await });
    Ok(Admitted { without_effect: asked?, setup })
}

async fn ask(setup: &Setup, folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let options = setup.target_options();
    let target = target::open(&setup.target, &options)?;
    // Says that this is still going on: `heal` clears what nobody uses any more.
    let journal = Arc::new(Journal::create(folder, RunClock::start())?);
    let mut ports = PortPool::new();
    let asked = folder.join(ASKED);
    fs::create_dir(&asked)?;
    if let Some(Training { target, keep }) = target.training(folder) {
        let alone =
            alone(target, (TRAINED, BTreeMap::new()), (folder, Arc::clone(&journal)), &mut ports);
        let cluster = alone.await?;
        cluster.end_all(TRAINED_WITHIN).await;
        keep()?;
    }
    let without_effect = ask_nodes(&*target, &world::plan(setup, &asked, &mut ports)?).await?;
    let asked_for = |topic: &TopicSetup| {
        topic.configs.iter().any(|(key, value)| (key.as_str(), value.as_str()) != USUAL)
    };
    if setup.topics.iter().any(asked_for) {
        // A node with a bug switched on may not come to serve alone.
        let sound = TargetOptions { mutants: Vec::new(), ..options };
        let sound = target::open(&setup.target, &sound)?;
        try_topics(sound.into(), setup, (folder, journal), &mut ports).await?;
    }
    Ok(without_effect)
}

/// Each node's configuration, but for those that differ in their ports only; gives the properties
/// that have no effect.
async fn ask_nodes(target: &dyn Target, plan: &ClusterPlan) -> Result<BTreeSet<String>, Failure> {
    let (mut asked, mut without_effect) = (Vec::new(), BTreeSet::new());
    for node in plan.nodes.values() {
        let what = (node.roles, plan.properties_of(node));
        if asked.contains(&what) {
            continue;
        }
        target.prepare(plan, node).await?;
        without_effect.extend(target.check(plan, node).await?);
        asked.push(what);
    }
    Ok(without_effect)
}

/// Creates one topic of each kind on a node of its own: only a broker knows which settings it
/// takes.
async fn try_topics(
    target: Arc<dyn Target>,
    setup: &Setup,
    (folder, journal): (&Path, Arc<Journal>),
    ports: &mut PortPool,
) -> Result<(), Failure> {
    let cluster =
        alone(target, (TRIED, setup.properties.clone()), (folder, journal), ports).await?;
    let one = Setup { nodes: 1, topics: kinds(&setup.topics), ..setup.clone() };
    let created = world::create_topics(&cluster, &one, TRIED).await;
    cluster.kill_all().await;
    match created {
        Err(Failure::Usage(BadOption(why))) => {
            let why = why.replace(&format!("topic {TRIED}-"), "topic ");
            Err(Failure::Usage(BadOption(why)))
        }
        other => other.map(drop),
    }
}

/// Starts one node that is a cluster of its own, in the folder `name` below `folder`.
async fn alone(
    target: Arc<dyn Target>,
    (name, properties): (&str, BTreeMap<String, String>),
    (folder, journal): (&Path, Arc<Journal>),
    ports: &mut PortPool,
) -> Result<Arc<Cluster>, Failure> {
    let has = target.capabilities();
    let placement = match has.controllers {
        true => ControllerPlacement::Combined,
        false => ControllerPlacement::None,
    };
    let mut plan = ClusterPlan::new(folder, &world::cluster_id(), 1, placement, ports)?;
    if !has.proxies {
        plan = plan.without_proxies();
    }
    plan.properties = properties;
    for node in plan.nodes.values_mut() {
        // Nobody stands between it and itself.
        node.listeners.values_mut().for_each(|place| *place = place.direct());
        node.folder = folder.join(name);
        node.log_dir = node.folder.join("data");
    }
    let cluster = Cluster::new(Arc::new(plan), target, journal);
    cluster.prepare().await?;
    cluster.start(NodeId(1)).await?;
    Ok(cluster)
}

/// One topic of each set of settings, with one replica.
fn kinds(topics: &[TopicSetup]) -> Vec<TopicSetup> {
    let mut seen = BTreeSet::new();
    let fresh = topics.iter().filter(|topic| seen.insert(&topic.configs));
    let alone = fresh.map(|topic| {
        let mut alone = TopicSetup { assignment: vec![vec![1]], ..topic.clone() };
        alone.plan.partitions = 1;
        alone
    });
    alone.collect()
}
