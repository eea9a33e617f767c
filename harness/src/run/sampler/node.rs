//! Asks one node, again and again.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use highwater_history::samples::{PartitionState, ReplicaState, Said, Sample};
use highwater_workloads::Key;
use tokio::sync::mpsc;

use super::{PATIENCE, SamplerConfig, ticks};
use crate::{
    cluster::NodeId,
    direct::{Direct, DirectError},
    run::asks::{self, ClusterMetadata, Marks},
};

/// What one round of questions to one node gave.
#[derive(Debug)]
pub struct Round {
    /// Who was asked.
    pub node: NodeId,
    /// For `samples.jsonl`.
    pub samples: Vec<Sample>,
    /// Its view of the cluster; `None` when it did not answer.
    pub metadata: Option<ClusterMetadata>,
    /// Of its own replicas: high watermark and log end, where known.
    pub replicas: BTreeMap<Key, (Option<i64>, Option<i64>)>,
    /// When the last answer came, nanoseconds of the run.
    pub answered: u64,
}

/// Asks until the receiver is gone.
pub(super) async fn ask_forever(
    node: NodeId,
    config: SamplerConfig,
    period: Duration,
    sender: mpsc::UnboundedSender<Round>,
) {
    let direct = config.cluster.plan().direct();
    let Some(address) = direct.get(&node).copied() else { return };
    let mut asker =
        Asker { node, address, config, connection: None, high_watermarks: BTreeMap::new() };
    let mut ticks = ticks(period);
    loop {
        ticks.tick().await;
        let round = asker.round().await;
        if sender.send(round).is_err() {
            return;
        }
    }
}

struct Asker {
    node: NodeId,
    address: SocketAddr,
    config: SamplerConfig,
    connection: Option<Direct>,
    /// Where the next Fetch of a key starts: an offset that the replica surely holds.
    high_watermarks: BTreeMap<Key, i64>,
}

impl Asker {
    async fn round(&mut self) -> Round {
        let asked = self.config.clock.now_ns();
        let mut round = Round {
            node: self.node,
            samples: Vec::new(),
            metadata: None,
            replicas: BTreeMap::new(),
            answered: asked,
        };
        if let Err(error) = self.ask(&mut round).await {
            self.connection = None;
            let said = Said::Silent { error: error.to_string() };
            let sample = self.sample(asked, said);
            round.samples.push(sample);
        }
        round.answered = self.config.clock.now_ns();
        round
    }

    async fn ask(&mut self, round: &mut Round) -> Result<(), DirectError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Direct::connect(self.address, PATIENCE).await?,
        };
        let asked = self.config.clock.now_ns();
        let catalog = self.config.catalog.clone();
        let topics = catalog.topics().iter().map(|topic| &*topic.name);
        let metadata = asks::metadata(&mut connection, topics, PATIENCE).await?;
        for key in catalog.keys() {
            if let Some(said) = partition_state(&catalog, key, &metadata) {
                let sample = self.sample(asked, Said::Partition(said));
                round.samples.push(sample);
            }
        }
        let hosted = hosted(&catalog, self.node, &metadata);
        round.metadata = Some(metadata);
        self.ask_replicas(&mut connection, &hosted, round).await?;
        self.connection = Some(connection);
        Ok(())
    }

    /// The high watermark is asked before the log end, or it could seem to be above it.
    async fn ask_replicas(
        &mut self,
        connection: &mut Direct,
        hosted: &[Key],
        round: &mut Round,
    ) -> Result<(), DirectError> {
        if hosted.is_empty() {
            return Ok(());
        }
        let catalog = self.config.catalog.clone();
        let asked = self.config.clock.now_ns();
        let from = |key: &Key| (*key, self.high_watermarks.get(key).copied().unwrap_or(0));
        let from: Vec<_> = hosted.iter().map(from).collect();
        let marks = asks::marks(connection, &catalog, &from, PATIENCE).await?;
        let ends = asks::log_ends(connection, &catalog, hosted.iter().copied(), PATIENCE).await?;
        for key in hosted {
            let mark = marks.get(key).and_then(|mark| mark.ok());
            match mark {
                Some(mark) => self.high_watermarks.insert(*key, mark.hw.max(0)),
                None => self.high_watermarks.remove(key),
            };
            let end = ends.get(key).copied();
            round.replicas.insert(*key, (mark.map(|mark| mark.hw), end));
            let said = Said::Replica(replica_state(&catalog, *key, mark, end));
            let sample = self.sample(asked, said);
            round.samples.push(sample);
        }
        Ok(())
    }

    fn sample(&self, asked: u64, said: Said) -> Sample {
        Sample { asked, answered: self.config.clock.now_ns(), node: self.node.0, said }
    }
}

fn hosted(
    catalog: &highwater_workloads::Catalog,
    node: NodeId,
    metadata: &ClusterMetadata,
) -> Vec<Key> {
    let hosts = |key: &Key| {
        let name = (catalog.topic(*key).name.clone(), catalog.partition(*key));
        metadata.partitions.get(&name).is_some_and(|seen| seen.replicas.contains(&node.0))
    };
    catalog.keys().filter(hosts).collect()
}

fn partition_state(
    catalog: &highwater_workloads::Catalog,
    key: Key,
    metadata: &ClusterMetadata,
) -> Option<PartitionState> {
    let name = (catalog.topic(key).name.clone(), catalog.partition(key));
    let seen = metadata.partitions.get(&name)?;
    Some(PartitionState {
        key: catalog.name(key).into(),
        leader: seen.leader,
        leader_epoch: seen.leader_epoch,
        partition_epoch: None,
        isr: seen.isr.clone(),
        elr: Vec::new(),
        replicas: seen.replicas.clone(),
    })
}

fn replica_state(
    catalog: &highwater_workloads::Catalog,
    key: Key,
    mark: Option<Marks>,
    end: Option<i64>,
) -> ReplicaState {
    ReplicaState {
        key: catalog.name(key).into(),
        log_start: mark.map(|mark| mark.log_start),
        lso: mark.and_then(|mark| mark.lso),
        hw: mark.map(|mark| mark.hw),
        leo: end,
        leader_epoch: None,
        leads: None,
    }
}
