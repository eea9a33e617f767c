//! Tells the parts of a broker what changed in the committed metadata.

use highwater_node_core::metadata::Delta;

use crate::broker::lifecycle;
use crate::node::Node;
use crate::replicas;

/// The image has changed: replicas act on it, and a broker that is fenced may be caught up now.
pub(super) fn publish(node: &mut Node, delta: &Delta) {
    replicas::apply_delta(node, delta);
    let broker = node.broker();
    let own = broker.image().brokers.get(&node.config.node_id);
    let registered = own.is_some_and(|own| own.epoch == broker.lifecycle.epoch());
    if registered && delta.brokers.contains(&node.config.node_id) {
        lifecycle::caught_up(node);
    }
}
