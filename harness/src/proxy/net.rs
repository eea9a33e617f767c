//! All proxies of a cluster, as one network that rules can be put on.

use std::{collections::BTreeMap, io, net::SocketAddr, path::PathBuf, sync::Arc};

use highwater_history::journal::Act;
use serde_json::json;
use thiserror::Error;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Endpoint, Link, LinkRule, RuleGuard,
    accept::{self, Front},
    claimed::claimed,
    connection::{Ends, Registry},
    rule::{ActiveRule, RuleTable},
    traffic::Traffic,
    witness::WitnessFiles,
};
use crate::{
    cluster::ClusterPlan,
    journal::{Journal, JournalError},
    process::KnownPids,
};

/// Why the proxies could not be started.
#[derive(Debug, Error)]
pub enum NetError {
    /// A proxy's port is taken.
    #[error("a proxy cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The witness's file cannot be made.
    #[error("cannot write {path}: {source}")]
    Witness {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) rules: Arc<RuleTable>,
    pub(super) registry: Arc<Registry>,
    pub(super) pids: Arc<KnownPids>,
    pub(super) witness: WitnessFiles,
    pub(super) traffic: Traffic,
    failures: watch::Sender<Vec<String>>,
}

impl Shared {
    /// Notes a failure of the proxies themselves.
    pub(super) fn fail(&self, what: String) {
        self.failures.send_modify(|failures| failures.push(what));
    }

    /// Notes a failure when a connection's opener by /proc is not who its client id says it is.
    pub(super) fn check_caller(&self, ends: &Ends, client_id: &str) {
        let Some(claims) = claimed(client_id) else { return };
        if ends.opener != Endpoint::Node(claims) {
            self.fail(format!(
                "a connection to node {} came from {} (pid {:?}) by /proc, but its client id is \
                 {client_id:?}",
                ends.acceptor, ends.opener, ends.opener_pid
            ));
        }
    }
}

/// The proxies of one cluster. Dropping it resets every proxied connection and frees the ports.
#[derive(Debug)]
pub struct ProxyNet {
    shared: Arc<Shared>,
    journal: Arc<Journal>,
    _closes: DropGuard,
}

impl ProxyNet {
    /// Starts a proxy for every listener of the plan that has one. Connections of a process that
    /// ends (`pids` says so) are reset at once.
    ///
    /// # Errors
    /// When a port is taken or the witness's files cannot be made.
    pub async fn start(
        plan: &ClusterPlan,
        pids: Arc<KnownPids>,
        journal: Arc<Journal>,
    ) -> Result<Arc<Self>, NetError> {
        let witness = WitnessFiles::create(plan, *journal.clock())
            .map_err(|(path, source)| NetError::Witness { path, source })?;
        let shared = Arc::new(Shared {
            rules: Arc::default(),
            registry: Arc::default(),
            pids,
            witness,
            traffic: Traffic::default(),
            failures: watch::Sender::default(),
        });
        let closed = CancellationToken::new();
        let closes = closed.clone().drop_guard();
        for front in fronts(plan) {
            let address = front.place.proxy;
            let listener = TcpListener::bind(address).await;
            let listener = listener.map_err(|source| NetError::Listen { address, source })?;
            tokio::spawn(accept::serve(Arc::clone(&shared), front, listener, closed.clone()));
        }
        tokio::spawn(reset_ended(Arc::clone(&shared), closed));
        Ok(Arc::new(Self { shared, journal, _closes: closes }))
    }

    /// Puts a rule on a link until the guard is dropped.
    ///
    /// # Errors
    /// When the heal journal cannot be written: then the rule is not in force.
    pub fn install(&self, rule: LinkRule) -> Result<RuleGuard, JournalError> {
        let act = self.journal.begin(Act::Link { rule: json!(rule) })?;
        let active = Arc::new(ActiveRule::new(rule));
        self.shared.rules.insert(Arc::clone(&active));
        let (table, journal) = (Arc::clone(&self.shared.rules), Arc::clone(&self.journal));
        Ok(RuleGuard { active, table, journal, act })
    }

    /// How many connections are proxied now.
    #[cfg(test)]
    pub(super) fn connections(&self) -> usize {
        self.shared.registry.len()
    }

    /// Hands what the second witness saw so far to its files (`nodes/proxy-N.jsonl`).
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn flush_witness(&self) -> io::Result<()> {
        self.shared.witness.flush()
    }

    /// Bytes delivered so far, by directed link.
    #[must_use]
    pub fn traffic(&self) -> BTreeMap<Link, u64> {
        self.shared.traffic.bytes()
    }

    /// What went wrong in the proxies themselves: any entry is a harness failure, never a verdict.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        self.shared.failures.borrow().clone()
    }

    /// Waits until something goes wrong in the proxies themselves; gives the first.
    pub async fn failed(&self) -> String {
        let mut failures = self.shared.failures.subscribe();
        let told = failures.wait_for(|failures| !failures.is_empty()).await;
        told.expect("the sender lives as long as these proxies")[0].clone()
    }
}

fn fronts(plan: &ClusterPlan) -> Vec<Front> {
    let nodes = plan.nodes.values();
    let each = nodes.flat_map(|node| {
        let places = node.listeners.iter().filter(|(_, place)| place.has_proxy());
        places.map(|(listener, place)| Front { node: node.id, listener: *listener, place: *place })
    });
    each.collect()
}

async fn reset_ended(shared: Arc<Shared>, closed: CancellationToken) {
    let mut ended = shared.pids.ended();
    loop {
        let pid = tokio::select! {
            () = closed.cancelled() => return,
            pid = ended.recv() => pid,
        };
        match pid {
            Some(pid) => shared.registry.reset_process(pid),
            None => return,
        }
    }
}
