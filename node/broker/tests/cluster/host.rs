//! One process: a node, its disk in memory, and whether it runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use highwater_broker::config::{ListenerConfig, NodeConfig};
use highwater_broker::{ConnId, Input, Node, OpId};
use highwater_log::{Command, LogId, MemDisk, Store};
use highwater_node_core::rule::Rules;
use highwater_node_core::types::{BrokerId, Time};

use super::net::{PipeId, Place, Side};

/// The controller's place.
pub const CONTROLLER: Place = Place(9);
/// The brokers' places.
pub const BROKERS: [Place; 3] = [Place(1), Place(2), Place(3)];
/// How long a broker lives without a heartbeat.
pub const SESSION_MS: u64 = 600;
/// How long a follower may lag.
pub const LAG_MS: u64 = 500;

/// A running process.
pub struct Process {
    pub node: Node,
    pub store: Store<MemDisk>,
    pub conns: BTreeMap<ConnId, (PipeId, Side)>,
    /// Commands that the disk has not executed; a kill loses them.
    pub disk_queue: VecDeque<(OpId, Command)>,
    pub disk_busy: bool,
    /// What came while the process was paused.
    pub inbox: VecDeque<Input>,
    pub next_accepted: u64,
    pub wake: Option<Time>,
    /// The partition of each open log; the metadata log is -1.
    pub logs: BTreeMap<LogId, i32>,
    pub ready: bool,
}

/// One process's place, running or not.
pub struct Host {
    pub place: Place,
    /// Counts the processes that ran here.
    pub run: u64,
    pub process: Option<Process>,
    /// What a process that is gone left on its disk.
    pub disk: Option<MemDisk>,
    pub paused: bool,
    pub slow_disk: bool,
}

impl Host {
    pub fn new(place: Place) -> Host {
        let disk = Some(MemDisk::new());
        Host { place, run: 0, process: None, disk, paused: false, slow_disk: false }
    }

    /// Starts a process over what the disk holds.
    pub fn start(&mut self, rules: Rules, seed: u64) {
        let disk = self.disk.take().expect("a process that starts was down");
        self.run += 1;
        self.paused = false;
        self.process = Some(Process {
            node: Node::new(config(self.place), rules, seed ^ self.run << 8),
            store: Store::new(disk),
            conns: BTreeMap::new(),
            disk_queue: VecDeque::new(),
            disk_busy: false,
            inbox: VecDeque::new(),
            next_accepted: 0,
            wake: None,
            logs: BTreeMap::new(),
            ready: false,
        });
    }

    /// Kills the process: what it had written stays, what it had only asked for does not.
    pub fn kill(&mut self) -> Option<Process> {
        let mut process = self.process.take()?;
        let store = std::mem::replace(&mut process.store, Store::new(MemDisk::new()));
        self.disk = Some(store.into_disk());
        self.paused = false;
        Some(process)
    }

    pub fn is_running(&self) -> bool {
        self.process.is_some() && !self.paused
    }
}

fn listener(name: &str, place: Place) -> ListenerConfig {
    let host = format!("n{}", place.0);
    ListenerConfig {
        name: name.to_owned(),
        host: host.clone(),
        port: 9092,
        advertised_host: host,
        advertised_port: 9092,
    }
}

fn config(place: Place) -> NodeConfig {
    let is_controller = place == CONTROLLER;
    let name = if is_controller { "CONTROLLER" } else { "PLAINTEXT" };
    let mut config = NodeConfig {
        node_id: BrokerId(place.0),
        is_broker: !is_controller,
        is_controller,
        cluster_id: "cluster".to_owned(),
        directory_id: 100 + place.0 as u128,
        listeners: vec![listener(name, place)],
        controller_listeners: vec!["CONTROLLER".to_owned()],
        voters: BTreeMap::from([(BrokerId(CONTROLLER.0), "n9:9092".to_owned())]),
        request_timeout_ms: 1_000,
        broker_heartbeat_interval_ms: 120,
        broker_session_timeout_ms: SESSION_MS,
        initial_registration_timeout_ms: 600_000,
        auto_leader_rebalance_enable: false,
        quorum_fetch_timeout_ms: 400,
        ..NodeConfig::default()
    };
    config.replication.lag_time_max_ms = LAG_MS;
    config.replication.fetch_wait_max_ms = 100;
    config.replication.fetch_backoff_ms = 50;
    config.replication.socket_timeout_ms = 400;
    config.replication.high_watermark_checkpoint_interval_ms = 300;
    config
}

/// The places that a broker talks to, itself left out.
pub fn peers(of: Place) -> BTreeSet<Place> {
    BROKERS.into_iter().chain([CONTROLLER]).filter(|place| *place != of).collect()
}
