//! Opens the logs of partitions that this broker has a copy of, and sets others aside.

use highwater_log::store::Opened;
use highwater_log::{Command, Completion, Done, LogId};
use highwater_node_core::replica::{Replica, ReplicaConfig};
use highwater_node_core::types::PartitionId;
use rand::RngExt;

use super::convert::loaded;
use super::hosted::Hosted;
use super::metadata::config_of;
use super::outputs::completed;
use super::{metadata, waits};
use crate::event::Event;
use crate::metadata_log;
use crate::node::Node;
use crate::{alter_partition, fetchers};

/// Opens the partition's log, or creates it; the replica exists once that is done.
pub(super) fn host(node: &mut Node, id: PartitionId, topic: &str) {
    let dir = format!("{topic}-{}", id.index);
    let config = config_of(node, topic);
    if let Some(found) = node.broker_mut().replicas.found.remove(&dir)
        && found.topic_id.is_some_and(|topic| topic != id.topic.0)
    {
        set_aside(node, found.dir);
    }
    let log = next_log(node);
    let settings = config.log;
    let hosted = Hosted { log, topic: topic.to_owned(), config, replica: None };
    node.broker_mut().replicas.hosted.insert(id, hosted);
    let command = Command::Open { log, dir, topic_id: Some(id.topic.0), config: settings };
    node.kernel.disk(command, move |node, done| opened(node, id, log, done));
}

fn opened(node: &mut Node, id: PartitionId, log: LogId, done: Completion) {
    let Some(done) = completed(node, id, log, done) else { return };
    let Done::Opened(opened) = done else { unreachable!("Open gives Opened, not {done:?}") };
    tell_recovery(node, id, &opened);
    let (broker, rules) = (node.config.node_id, node.rules);
    let lag_limit_ms = node.config.replication.lag_time_max_ms;
    let hosted = node.broker_mut().replicas.hosted.get_mut(id).expect("it was there just now");
    let min_isr = hosted.config.min_insync_replicas;
    let config = ReplicaConfig { lag_limit_ms, min_isr };
    hosted.replica = Some(Replica::new(id, broker, config, &rules, loaded(opened)));
    metadata::apply_state(node, id);
}

fn tell_recovery(node: &mut Node, id: PartitionId, opened: &Opened) {
    let Some(reason) = opened.cut_reason.clone() else { return };
    let topic = node.broker().replicas.hosted.get(id).map_or("?", |hosted| hosted.topic.as_str());
    let partition = format!("{topic}-{}", id.index);
    let (log_end, cut_bytes) = (opened.state.log_end, opened.cut_bytes);
    node.kernel.event(Event::Recovered { partition, log_end, cut_bytes, reason });
}

/// The partition is no longer kept here: its log goes, and whoever waits for it is told.
pub(super) fn drop_replica(node: &mut Node, id: PartitionId) {
    let Some(hosted) = node.broker_mut().replicas.hosted.remove(id) else { return };
    alter_partition::forget(node, id);
    fetchers::assign(node, id);
    delete(node, hosted.log);
    waits::touch(node, id);
}

/// Sets logs aside that no partition of the up-to-date metadata has claimed (rule 76).
pub(super) fn set_strays_aside(node: &mut Node) {
    for (_, found) in std::mem::take(&mut node.broker_mut().replicas.found) {
        set_aside(node, found.dir);
    }
}

/// As in Kafka, a stray log is kept under another name until an operator removes it: that it has no
/// partition any more may be a mistake.
fn set_aside(node: &mut Node, dir: String) {
    if dir == metadata_log::DIR {
        return;
    }
    let id = node.kernel.random().random();
    let command = Command::SetAside { dir: dir.clone(), id };
    node.kernel.disk(command, move |node, done| match done {
        Ok(Done::SetAside { dir: to }) => node.kernel.event(Event::StraySetAside { dir, to }),
        Ok(other) => unreachable!("SetAside gives SetAside, not {other:?}"),
        Err(error) => warn(node, &format!("the stray log {dir} cannot be set aside: {error}")),
    });
}

fn delete(node: &mut Node, log: LogId) {
    node.kernel.disk(Command::Delete { log }, |node, done| match done {
        Ok(_) | Err(highwater_log::StoreError::Unknown(_)) => {}
        Err(error) => warn(node, &format!("a log cannot be removed: {error}")),
    });
}

fn warn(node: &mut Node, text: &str) {
    node.kernel.event(Event::Warning { text: text.to_owned() });
}

fn next_log(node: &mut Node) -> LogId {
    let manager = &mut node.broker_mut().replicas;
    let log = LogId(manager.next_log);
    manager.next_log += 1;
    log
}
