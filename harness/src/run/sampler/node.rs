//! Asks one node, again and again.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use highwater_history::samples::{PartitionState, ReplicaState, Said, Sample};
use highwater_workloads::Key;
use tokio::sync::mpsc;

use super::{PATIENCE, SamplerConfig, ticks};
use crate::{
    cluster::NodeId,
    direct::{Direct, DirectError},
    run::asks::{self, ClusterMetadata},
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
    /// When the first question left, nanoseconds of the run.
    pub asked: u64,
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
            asked,
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
        let metadata = self.ask_metadata(&mut connection).await?;
        for key in catalog.keys() {
            if let Some(said) = partition_state(&catalog, key, &metadata) {
                let sample = self.sample(asked, Said::Partition(said));
                round.samples.push(sample);
            }
        }
        let before = round.metadata.insert(metadata).clone();
        let hosted = hosted(&catalog, self.node, &before);
        if !hosted.is_empty() {
            self.ask_replicas(&mut connection, &hosted, &before, round).await?;
        }
        self.connection = Some(connection);
        Ok(())
    }

    async fn ask_metadata(&self, connection: &mut Direct) -> Result<ClusterMetadata, DirectError> {
        let topics = self.config.catalog.topics().iter().map(|topic| &*topic.name);
        asks::metadata(connection, topics, PATIENCE).await
    }

    /// The high watermark is asked before the log end, or it could seem to be above it. Who leads
    /// is asked before and after both, or what a deposed leader cut could seem to be its own still.
    async fn ask_replicas(
        &mut self,
        connection: &mut Direct,
        hosted: &[Key],
        before: &ClusterMetadata,
        round: &mut Round,
    ) -> Result<(), DirectError> {
        let catalog = self.config.catalog.clone();
        let asked = self.config.clock.now_ns();
        let from = |key: &Key| (*key, self.high_watermarks.get(key).copied().unwrap_or(0));
        let from: Vec<_> = hosted.iter().map(from).collect();
        let marks = asks::marks(connection, &catalog, &from, PATIENCE).await?;
        let ends = asks::log_ends(connection, &catalog, hosted.iter().copied(), PATIENCE).await?;
        let after = self.ask_metadata(connection).await?;
        for key in hosted {
            let mark = marks.get(key).and_then(|mark| mark.ok());
            match mark {
                Some(mark) => self.high_watermarks.insert(*key, mark.hw.max(0)),
                None => self.high_watermarks.remove(key),
            };
            let end = ends.get(key).copied();
            round.replicas.insert(*key, (mark.map(|mark| mark.hw), end));
            let led = steady(&catalog, *key, before, &after);
            let state = ReplicaState {
                key: catalog.name(*key).into(),
                log_start: mark.map(|mark| mark.log_start),
                lso: mark.and_then(|mark| mark.lso),
                hw: mark.map(|mark| mark.hw),
                leo: end,
                leader_epoch: led.map(|(_, epoch)| epoch),
                leads: led.map(|(leader, _)| leader == Some(self.node.0)),
            };
            let sample = self.sample(asked, Said::Replica(state));
            round.samples.push(sample);
        }
        Ok(())
    }

    fn sample(&self, asked: u64, said: Said) -> Sample {
        Sample { asked, answered: self.config.clock.now_ns(), node: self.node.0, said }
    }
}

/// Leader and epoch of a key, if both sights name the same: then they held in between, too, for an
/// epoch never comes back.
fn steady(
    catalog: &highwater_workloads::Catalog,
    key: Key,
    before: &ClusterMetadata,
    after: &ClusterMetadata,
) -> Option<(Option<i32>, i32)> {
    let name = (catalog.topic(key).name.clone(), catalog.partition(key));
    let led = |metadata: &ClusterMetadata| {
        let seen = metadata.partitions.get(&name)?;
        Some((seen.leader, seen.leader_epoch))
    };
    led(before).filter(|seen| led(after) == Some(*seen))
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

#[cfg(test)]
mod tests {
    use highwater_history::event::Acks;
    use highwater_workloads::{Catalog, Key, topic::TopicPlan};

    use super::{ClusterMetadata, steady};
    use crate::run::asks::PartitionMetadata;

    fn led_by(leader: Option<i32>, leader_epoch: i32) -> ClusterMetadata {
        let state = PartitionMetadata { leader, leader_epoch, ..PartitionMetadata::default() };
        let partitions = [(("run-all".into(), 0), state)].into();
        ClusterMetadata { partitions, ..ClusterMetadata::default() }
    }

    /// c.2: a high watermark is its epoch's only where nothing was cut between two questions.
    #[test]
    fn marks_are_of_an_epoch_that_stands_before_and_after_them() {
        let mut catalog = Catalog::default();
        let plan = TopicPlan::new("all", 1, Acks::All);
        catalog.add(plan, "run-all".into(), uuid::Uuid::nil());
        let steady = |before: &ClusterMetadata, after: &ClusterMetadata| {
            steady(&catalog, Key(0), before, after)
        };
        let led = led_by(Some(1), 5);
        assert_eq!(steady(&led, &led), Some((Some(1), 5)));
        for other in [led_by(Some(1), 7), led_by(None, 5), ClusterMetadata::default()] {
            assert_eq!(steady(&led, &other), None);
            assert_eq!(steady(&other, &led), None);
        }
    }
}
