//! The controller's part of a node: the metadata log and who may change it.
//!
//! `start` opens the log and `log` appends to it and commits; `active` is the controller while this
//! node leads; `fetch` serves the log to brokers. APIs go through `ask` and `answer`.

mod active;
mod ask;
mod config_rules;
mod describe;
mod events;
pub(crate) mod fetch;
mod log;
mod quorum_state;
mod start;

use std::collections::BTreeMap;
use std::fmt;

use highwater_node_core::controller::{Controller, Reply, Token};
use highwater_node_core::metadata::record::IncarnationId;
use highwater_node_core::metadata::{Image, Replay};
use highwater_node_core::quorum::{Quorum, Voters};
use highwater_node_core::rule::Rules;
use rand::RngExt;

pub(crate) use ask::{answer, code_and_message, refuse};
pub(crate) use describe::describe_quorum;

use crate::config::NodeConfig;
use crate::kernel::{Kernel, Then};
use crate::metadata_log::Backlog;
use crate::node::Node;
use crate::startup::Startup;
use crate::timers::TimerId;

/// What a node holds as a controller.
pub struct ControllerRole {
    quorum: Quorum,
    incarnation: IncarnationId,
    /// What is in the log and not committed.
    backlog: Backlog,
    /// What is committed.
    committed: Replay,
    /// The controller itself, while this node leads the quorum and has committed in its epoch.
    active: Option<Controller>,
    /// Who gets the controller's replies.
    asked: BTreeMap<Token, Then<Reply>>,
    next_token: u64,
    tick: Option<TimerId>,
    /// Fetches that wait for the log to move.
    fetches: fetch::Waiting,
}

impl ControllerRole {
    pub(crate) fn new(config: &NodeConfig, rules: Rules, kernel: &mut Kernel) -> ControllerRole {
        let voters = Voters(config.voters.keys().copied().collect());
        ControllerRole {
            quorum: Quorum::new(config.node_id, voters, rules),
            incarnation: IncarnationId(kernel.random().random()),
            backlog: Backlog::default(),
            committed: Replay::default(),
            active: None,
            asked: BTreeMap::new(),
            next_token: 0,
            tick: None,
            fetches: fetch::Waiting::default(),
        }
    }

    /// Begins once the log directory is known.
    pub(crate) fn start(node: &mut Node, _startup: &Startup) {
        start::start(node);
    }

    /// The quorum as this voter sees it.
    pub fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    /// The committed metadata.
    pub fn image(&self) -> &Image {
        self.committed.image()
    }

    /// The controller, while it is active.
    pub fn active(&self) -> Option<&Controller> {
        self.active.as_ref()
    }

    /// Checks the whole state; panics with the invariant that does not hold.
    pub fn validate(&self) {
        self.quorum.validate();
        self.committed.image().validate();
        if let Some(controller) = &self.active {
            controller.validate();
            let (decided, end) = (controller.image().end, self.quorum.log_end());
            assert_eq!(decided, end, "the controller decides at the end of the log");
        }
        let committed = self.committed.image().end;
        assert!(committed <= self.quorum.high_watermark(), "only what is committed applies");
    }
}

impl Node {
    /// The controller's part of a node that has one.
    ///
    /// # Panics
    /// On a node without the controller role: only its APIs and its own continuations call this.
    pub fn controller(&self) -> &ControllerRole {
        self.controller.as_ref().expect("what a controller does runs on a controller")
    }

    /// Like [`Node::controller`], to change it.
    pub(crate) fn controller_mut(&mut self) -> &mut ControllerRole {
        self.controller.as_mut().expect("what a controller does runs on a controller")
    }
}

impl fmt::Debug for ControllerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerRole").field("quorum", &self.quorum).finish_non_exhaustive()
    }
}
