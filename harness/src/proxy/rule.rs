//! Rules on links, and the guards that take them back.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Link;
use crate::journal::{ActId, Journal};

/// Which half of an exchange a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Requests, which flow from the end that opened the connection.
    Request,
    /// Answers, which flow back to it.
    Answer,
}

/// What a rule does to the bytes of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Withholds all bytes, as a network that loses every packet: they wait, in order, and are
    /// delivered when the rule goes, unless the connection ended meanwhile. A connection that is
    /// opened meanwhile hangs, and nothing of it arrives if its opener gives up first.
    Cut,
    /// Delivers late, and no faster than `bytes_per_s` per connection.
    Slow {
        /// How much later each byte arrives.
        delay_ms: u64,
        /// The bandwidth of each connection; `None` is unlimited.
        bytes_per_s: Option<u64>,
    },
    /// Withholds answers; the connections that lost one are reset when the rule goes.
    LoseAnswers,
    /// Holds frames of one kind of request, or their answers, and what follows them on the same
    /// connection in that direction.
    Hold {
        /// Kafka's API key.
        api_key: i16,
        /// Which half.
        part: Part,
    },
}

/// An action on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRule {
    /// Where.
    pub link: Link,
    /// What.
    #[serde(flatten)]
    pub action: Action,
}

/// What a rule did so far: its proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RuleStats {
    /// Bytes that were withheld or delayed.
    pub bytes: u64,
    /// Frames of which the first byte was withheld, held or delayed.
    pub frames: u64,
    /// Connections that were opened meanwhile and hung.
    pub hung_connections: u64,
    /// Connections that the rule's end reset.
    pub reset_connections: u64,
}

impl RuleStats {
    /// Whether the rule was felt at all.
    #[must_use]
    pub fn acted(&self) -> bool {
        self.bytes > 0 || self.hung_connections > 0
    }
}

/// A rule in force, shared by the guard and the pumps that obey it.
#[derive(Debug)]
pub(super) struct ActiveRule {
    pub(super) rule: LinkRule,
    bytes: AtomicU64,
    frames: AtomicU64,
    hung: AtomicU64,
    reset: AtomicU64,
    gone: AtomicBool,
    discard: AtomicBool,
}

impl ActiveRule {
    pub(super) fn new(rule: LinkRule) -> Self {
        Self {
            rule,
            bytes: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            hung: AtomicU64::new(0),
            reset: AtomicU64::new(0),
            gone: AtomicBool::new(false),
            discard: AtomicBool::new(false),
        }
    }

    /// Whether the rule was taken back.
    pub(super) fn gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Whether what it held must not be delivered: the connection is reset instead.
    pub(super) fn discards(&self) -> bool {
        self.rule.action == Action::LoseAnswers || self.discard.load(Ordering::Acquire)
    }

    pub(super) fn count_withheld(&self, bytes: usize, frames: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.frames.fetch_add(frames as u64, Ordering::Relaxed);
    }

    pub(super) fn count_hung(&self) {
        self.hung.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_reset(&self) {
        self.reset.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> RuleStats {
        RuleStats {
            bytes: self.bytes.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
            hung_connections: self.hung.load(Ordering::Relaxed),
            reset_connections: self.reset.load(Ordering::Relaxed),
        }
    }
}

/// The rules in force; its version changes when one comes or goes.
#[derive(Debug, Default)]
pub(super) struct RuleTable {
    rules: Mutex<Vec<Arc<ActiveRule>>>,
    version: watch::Sender<u64>,
}

impl RuleTable {
    pub(super) fn insert(&self, rule: Arc<ActiveRule>) {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).push(rule);
        self.version.send_modify(|version| *version += 1);
    }

    fn remove(&self, rule: &Arc<ActiveRule>) {
        rule.gone.store(true, Ordering::Release);
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|other| !Arc::ptr_eq(other, rule));
        drop(rules);
        self.version.send_modify(|version| *version += 1);
    }

    /// The rules on `link`, in the order they were installed.
    pub(super) fn on(&self, link: Link) -> Vec<Arc<ActiveRule>> {
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.iter().filter(|active| active.rule.link == link).cloned().collect()
    }

    /// Tells when a rule comes or goes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }
}

/// Keeps a rule in force; dropping it heals the link.
#[derive(Debug)]
#[must_use = "dropping the guard heals the link"]
pub struct RuleGuard {
    pub(super) active: Arc<ActiveRule>,
    pub(super) table: Arc<RuleTable>,
    pub(super) journal: Arc<Journal>,
    pub(super) act: ActId,
}

impl RuleGuard {
    /// The rule.
    #[must_use]
    pub fn rule(&self) -> LinkRule {
        self.active.rule
    }

    /// What the rule did so far.
    #[must_use]
    pub fn stats(&self) -> RuleStats {
        self.active.stats()
    }

    /// Takes the rule back without delivering what it withheld: the connections concerned are
    /// reset.
    pub fn discard(self) {
        self.active.discard.store(true, Ordering::Release);
    }
}

impl Drop for RuleGuard {
    fn drop(&mut self) {
        self.table.remove(&self.active);
        if let Err(error) = self.journal.end(self.act) {
            crate::stderr::line(format_args!("highwater: {error}"));
        }
    }
}
