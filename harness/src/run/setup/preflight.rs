//! Asks the target whether it takes what a run would give it, before anything of the run is there.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use super::{BadOption, Setup, TopicSetup, resolve};
use crate::{
    clock::RunClock,
    cluster::{Cluster, ClusterPlan, ControllerPlacement, NodeId, Place},
    journal::Journal,
    ports::PortPool,
    run::{
        Failure, Interrupts, RunArgs,
        world::{self, new_run_id},
    },
    scratch::Scratch,
    target::{self, Target, TargetError, TargetOptions},
};

/// The setting of every topic with followers: no target needs to be asked about it.
const USUAL: (&str, &str) = ("min.insync.replicas", "2");
/// Where the configurations stand that nodes are asked about.
const ASKED: &str = "asked";
/// What names of topics that are only tried begin with.
const TRIED: &str = "tried";

/// Decides everything for `seed` and has the target check it: what a run and its plan begin with.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do; or that the target cannot run here.
pub fn admit(args: &RunArgs, seed: u64) -> Result<Setup, Failure> {
    let setup = resolve(args, seed)?;
    // Goes last: processes that may still write into it end with the runtime.
    let scratch = Scratch::make(&new_run_id())
        .map_err(|(path, error)| Failure::Harness(format!("{}: {error}", path.display())))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Interrupts::listen().unless(ask(&setup, scratch.path())).await })?;
    Ok(setup)
}

async fn ask(setup: &Setup, folder: &Path) -> Result<(), Failure> {
    let options = TargetOptions { mutants: setup.mutants.clone() };
    let target = target::open(&setup.target, &options)?;
    // Says that this is still going on: `heal` clears what nobody uses any more.
    let journal = Arc::new(Journal::create(folder, RunClock::start())?);
    let mut ports = PortPool::new();
    let asked = folder.join(ASKED);
    fs::create_dir(&asked)?;
    ask_nodes(&*target, &world::plan(setup, &asked, &mut ports)?).await?;
    let asked_for = |topic: &TopicSetup| {
        topic.configs.iter().any(|(key, value)| (key.as_str(), value.as_str()) != USUAL)
    };
    if setup.topics.iter().any(asked_for) {
        // A node with a bug switched on may not come to serve alone.
        let sound = target::open(&setup.target, &TargetOptions::default())?;
        try_topics(sound.into(), setup, (folder, journal), &mut ports).await?;
    }
    Ok(())
}

/// Each node's configuration, but for those that differ in their ports only.
async fn ask_nodes(target: &dyn Target, plan: &ClusterPlan) -> Result<(), Failure> {
    let mut asked = Vec::new();
    for node in plan.nodes.values() {
        let what = (node.roles, plan.properties_of(node));
        if asked.contains(&what) {
            continue;
        }
        target.prepare(plan, node).await?;
        target.check(plan, node).await.map_err(|error| match error {
            TargetError::Refused(why) => Failure::Usage(BadOption(why)),
            error => error.into(),
        })?;
        asked.push(what);
    }
    Ok(())
}

/// Creates one topic of each kind on a node of its own: only a broker knows which settings it
/// takes.
async fn try_topics(
    target: Arc<dyn Target>,
    setup: &Setup,
    (folder, journal): (&Path, Arc<Journal>),
    ports: &mut PortPool,
) -> Result<(), Failure> {
    let (id, placement) = (world::cluster_id(), ControllerPlacement::Combined);
    let mut plan = ClusterPlan::new(folder, &id, 1, placement, ports)?;
    plan.properties = setup.properties.clone();
    for node in plan.nodes.values_mut() {
        // Nobody stands between it and itself.
        node.listeners.values_mut().for_each(|place| *place = direct(*place));
    }
    let cluster = Cluster::new(Arc::new(plan), target, journal);
    cluster.prepare().await?;
    cluster.start(NodeId(1)).await?;
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

fn direct(place: Place) -> Place {
    Place { proxy: place.real, ..place }
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
