//! What a node learns from its log directory before it does anything else.

use highwater_log::store::FoundLog;
use highwater_log::{Command, Done};
use highwater_node_core::types::BrokerEpoch;

use crate::broker::BrokerRole;
use crate::controller::ControllerRole;
use crate::effect::Effect;
use crate::event::Event;
use crate::node::Node;
use crate::replicas;

/// The exit status of a node that cannot use its log directory.
const EXIT_LOG_DIRECTORY: i32 = 70;

/// What the log directory held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    /// The partitions, the metadata log among them.
    pub logs: Vec<FoundLog>,
    /// True after a clean stop.
    pub clean: bool,
    /// The epoch of the incarnation that stopped cleanly (rule 31).
    pub previous_epoch: Option<BrokerEpoch>,
}

/// Looks into the log directory, then starts the roles.
pub(crate) fn start(node: &mut Node) {
    node.kernel.disk(Command::Find, |node, done| match done {
        Ok(Done::Found { logs, clean, broker_epoch }) => {
            let previous_epoch = broker_epoch.map(BrokerEpoch);
            start_roles(node, &Startup { logs, clean, previous_epoch });
        }
        Ok(other) => unreachable!("Find gives Found, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}

fn start_roles(node: &mut Node, startup: &Startup) {
    if node.controller.is_some() {
        ControllerRole::start(node, startup);
    }
    if node.broker.is_some() {
        BrokerRole::start(node, startup);
    }
}

/// Closes the logs, leaves the proof of a clean stop for the next incarnation (rule 31), and exits.
pub(crate) fn close(node: &mut Node, epoch: Option<BrokerEpoch>) {
    let broker_epoch = epoch.map(|epoch| epoch.0);
    let high_watermarks = replicas::high_watermarks(node);
    let command = Command::CleanShutdown { high_watermarks, broker_epoch };
    node.kernel.disk(command, |node, done| match done {
        Ok(Done::Stopped) => node.kernel.effect(Effect::Exit { status: 0 }),
        Ok(other) => unreachable!("CleanShutdown gives Stopped, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}

/// Ends the process: nothing can be served without the logs, or against what they say.
pub(crate) fn give_up(node: &mut Node, error: &dyn std::fmt::Display) {
    let text = format!("this node cannot go on with its logs: {error}");
    node.kernel.event(Event::Warning { text });
    node.kernel.effect(Effect::Exit { status: EXIT_LOG_DIRECTORY });
}
