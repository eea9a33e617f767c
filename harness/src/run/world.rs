//! The world of a run: its folder, its cluster, its proxies, its topics.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use highwater_history::RunFolder;
use highwater_workloads::{Catalog, client::Address, outcome, random::stream};
use rand::RngExt;
use tokio::time;

use super::{
    asks::{self, ClusterMetadata},
    fail::Failure,
    setup::{BadOption, Setup},
};
use crate::{
    clock::RunClock,
    cluster::{Cluster, ClusterPlan, NodeId},
    direct::Direct,
    disk,
    journal::Journal,
    ports::PortPool,
    proxy::ProxyNet,
    target,
};

/// How long one question to a starting cluster may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a started cluster may take until it serves the topics.
const SERVING_WITHIN: Duration = Duration::from_secs(60);
/// How often that is asked: a broker tells nobody.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// Kafka's code for a name that is taken.
const TOPIC_ALREADY_EXISTS: i16 = 36;

/// What a run stands on before any process of it runs.
pub struct Ground {
    /// The run's id, part of topic names and payloads.
    pub run_id: String,
    /// The run folder.
    pub folder: RunFolder,
    /// The run's clock.
    pub clock: RunClock,
    /// The brokers and controllers.
    pub cluster: Arc<Cluster>,
    /// The links.
    pub net: Arc<ProxyNet>,
    /// Keeps the ports ours.
    _ports: PortPool,
}

/// Everything that runs.
pub struct World {
    /// The run's id, part of topic names and payloads.
    pub run_id: String,
    /// The run folder.
    pub folder: RunFolder,
    /// The run's clock.
    pub clock: RunClock,
    /// The brokers and controllers.
    pub cluster: Arc<Cluster>,
    /// The links.
    pub net: Arc<ProxyNet>,
    /// The topics that exist.
    pub catalog: Arc<Catalog>,
    /// Numbers the dumps.
    pub next_dump: Arc<AtomicU64>,
}

/// A number that differs from run to run: for names, never for decisions.
#[must_use]
pub fn drawn() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64 ^ (u64::from(std::process::id()) << 42)
}

/// An id that no other run of this machine has: time and process in base 36.
#[must_use]
pub fn new_run_id() -> String {
    let mut number = drawn();
    let mut text = String::new();
    while number > 0 {
        text.insert(0, char::from_digit((number % 36) as u32, 36).expect("a digit of base 36"));
        number /= 36;
    }
    text
}

/// Makes a run folder with its sub-folders.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(out: &Path, setup: &Setup, run_id: &str) -> Result<RunFolder, Failure> {
    let name = format!("{}-{}-{run_id}", setup.schedule.name, setup.seed);
    let path = out.join(name);
    let make = std::fs::create_dir_all(path.join("dumps")).and_then(|()| path.canonicalize());
    let cannot = |error| format!("the run folder {} cannot be made: {error}", path.display());
    let path = make.map_err(|error| Failure::Harness(cannot(error)))?;
    Ok(RunFolder::new(path))
}

impl Ground {
    /// Plans the cluster, writes its configuration and starts its proxies.
    ///
    /// # Errors
    /// When the target or a port cannot be had.
    pub async fn lay(setup: &Setup, folder: RunFolder, run_id: &str) -> Result<Ground, Failure> {
        let clock = RunClock::start();
        let journal = Arc::new(Journal::create(folder.path(), clock)?);
        let mut ports = PortPool::new();
        let plan = Arc::new(plan(setup, folder.path(), &mut ports)?);
        let target = target::open(&setup.target, &setup.target_options())?;
        let (plan_of, journal_of) = (Arc::clone(&plan), Arc::clone(&journal));
        let disks = disk::for_schedule(&setup.schedule)?;
        let cluster = Cluster::with_disks(plan_of, target.into(), journal_of, disks);
        cluster.prepare().await?;
        let net = ProxyNet::start(&plan, Arc::clone(cluster.pids()), journal).await?;
        Ok(Ground { run_id: run_id.to_owned(), folder, clock, cluster, net, _ports: ports })
    }

    /// Starts every process and creates the topics.
    ///
    /// # Errors
    /// When a process does not serve or a topic is refused.
    pub async fn serve(&self, setup: &Setup) -> Result<World, Failure> {
        self.cluster.start_all().await?;
        let catalog = create_topics(&self.cluster, setup, &self.run_id).await?;
        Ok(World {
            run_id: self.run_id.clone(),
            folder: self.folder.clone(),
            clock: self.clock,
            cluster: Arc::clone(&self.cluster),
            net: Arc::clone(&self.net),
            catalog: Arc::new(catalog),
            next_dump: Arc::new(AtomicU64::new(1)),
        })
    }
}

impl World {
    /// Where clients under test are told to begin.
    #[must_use]
    pub fn bootstrap(&self) -> Vec<Address> {
        let address = |address: std::net::SocketAddr| Address {
            host: address.ip().to_string(),
            port: address.port(),
        };
        self.cluster.plan().bootstrap().into_values().map(address).collect()
    }
}

pub(super) fn plan(
    setup: &Setup,
    folder: &Path,
    ports: &mut PortPool,
) -> Result<ClusterPlan, Failure> {
    let cluster_id = cluster_id();
    let mut plan = ClusterPlan::new(folder, &cluster_id, setup.nodes, setup.controllers, ports)?;
    if !setup.capabilities.proxies {
        plan = plan.without_proxies();
    }
    plan.properties = setup.properties.clone();
    for (id, properties) in &setup.node_properties {
        let node = plan.nodes.get_mut(&NodeId(*id)).ok_or_else(|| {
            let why = format!("--set {id}:...: no node {id}; brokers are 1 to {}", setup.nodes);
            BadOption(why)
        })?;
        node.properties.extend(properties.clone());
    }
    Ok(plan)
}

/// A cluster id as Kafka has them: 16 bytes in URL-safe base 64.
pub(super) fn cluster_id() -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut rng = stream(drawn(), "cluster id");
    let letters = (0..21).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())]));
    // The last letter holds two bits of the 16 bytes and four that must be zero.
    letters.chain(['A']).collect()
}

pub(super) async fn create_topics(
    cluster: &Cluster,
    setup: &Setup,
    run_id: &str,
) -> Result<Catalog, Failure> {
    let name = |label: &str| format!("{run_id}-{label}");
    let topics: Vec<_> = setup.topics.iter().map(|t| (name(&t.plan.label), t)).collect();
    let late = || {
        let seconds = SERVING_WITHIN.as_secs();
        Failure::Harness(format!("the cluster did not serve its topics within {seconds} s"))
    };
    let serving = async {
        wait_for(cluster, &[], |seen| seen.brokers.len() == setup.nodes as usize).await;
        ask_to_create(cluster, &topics).await?;
        let names: Vec<&str> = topics.iter().map(|(name, _)| &**name).collect();
        let partitions: usize = setup.topics.iter().map(|t| t.assignment.len()).sum();
        let full = |seen: &ClusterMetadata| {
            let whole = seen
                .partitions
                .values()
                .filter(|p| p.leader.is_some() && p.isr.len() == p.replicas.len());
            whole.count() == partitions
        };
        Ok::<_, Failure>(wait_for(cluster, &names, full).await)
    };
    let seen = time::timeout(SERVING_WITHIN, serving).await.map_err(|_| late())??;
    let mut catalog = Catalog::default();
    for (name, topic) in topics {
        let id = seen.topics.get(&name).copied().unwrap_or_default();
        catalog.add(topic.plan.clone(), name, id);
    }
    Ok(catalog)
}

async fn ask_to_create(
    cluster: &Cluster,
    topics: &[(String, &super::setup::TopicSetup)],
) -> Result<(), Failure> {
    let address = *cluster.plan().direct().values().next().expect("a cluster has a broker");
    let mut broker = Direct::connect(address, PATIENCE)
        .await
        .map_err(|error| Failure::Harness(format!("broker at {address}: {error}")))?;
    let mut wanted = topics.to_vec();
    while !wanted.is_empty() {
        let mut refused = asks::create_topics(&mut broker, &wanted, PATIENCE)
            .await
            .map_err(|error| Failure::Harness(format!("creating topics: {error}")))?;
        // The name is this run's own: an earlier try made it, and its answer was late.
        refused.retain(|(_, code, _)| *code != TOPIC_ALREADY_EXISTS);
        if let Some(failure) = refusal(&refused) {
            return Err(failure);
        }
        wanted.retain(|(name, _)| refused.iter().any(|(refused, ..)| refused == name));
        time::sleep(ASK_EVERY).await;
    }
    Ok(())
}

/// What a broker's refusals of topics mean for the run; `None` when asking again may help.
fn refusal(refused: &[(String, i16, String)]) -> Option<Failure> {
    let say = |kind: Refused| {
        let of_kind = refused.iter().filter(|(_, code, _)| Refused::of(*code) == kind);
        of_kind.map(|(.., why)| why.as_str()).collect::<Vec<_>>().join("; ")
    };
    if refused.iter().any(|(_, code, _)| Refused::of(*code) == Refused::Failed) {
        return Some(Failure::Harness(say(Refused::Failed)));
    }
    let wrong = refused.iter().any(|(_, code, _)| Refused::of(*code) == Refused::Wrong);
    wrong.then(|| Failure::Usage(BadOption(say(Refused::Wrong))))
}

/// Why a topic was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// Its settings are wrong.
    Wrong,
    /// Not now.
    NotNow,
    /// Something else.
    Failed,
}

impl Refused {
    fn of(code: i16) -> Refused {
        let row = outcome::row(code);
        match row.name {
            "POLICY_VIOLATION" => Refused::Wrong,
            name if name.starts_with("INVALID_") => Refused::Wrong,
            _ if row.retriable => Refused::NotNow,
            _ => Refused::Failed,
        }
    }
}

/// Asks every broker until each says what is wanted.
async fn wait_for(
    cluster: &Cluster,
    topics: &[&str],
    wanted: impl Fn(&ClusterMetadata) -> bool,
) -> ClusterMetadata {
    let mut last = ClusterMetadata::default();
    for address in cluster.plan().direct().into_values() {
        loop {
            if let Ok(mut broker) = Direct::connect(address, PATIENCE).await
                && let Ok(seen) =
                    asks::metadata(&mut broker, topics.iter().copied(), PATIENCE).await
                && wanted(&seen)
            {
                last = seen;
                break;
            }
            time::sleep(ASK_EVERY).await;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::{Failure, refusal};

    fn refused(codes: &[i16]) -> Option<Failure> {
        let each = codes.iter().map(|code| ("t".to_owned(), *code, format!("code {code}")));
        refusal(&each.collect::<Vec<_>>())
    }

    #[test]
    fn only_wrong_settings_are_usage() {
        let (request_timed_out, unauthorized, invalid_config, policy_violation) = (7, 31, 40, 44);
        assert!(refused(&[request_timed_out]).is_none());
        for code in [invalid_config, policy_violation] {
            assert!(matches!(refused(&[request_timed_out, code]), Some(Failure::Usage(_))));
        }
        let failed = refused(&[invalid_config, unauthorized]);
        assert!(matches!(failed, Some(Failure::Harness(why)) if why == "code 31"));
    }
}
