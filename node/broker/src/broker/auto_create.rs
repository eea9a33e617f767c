//! Topics that come to be because a client asked for their metadata (`auto.create.topics.enable`).

use std::collections::BTreeSet;

use highwater_wire::StrBytes;
use highwater_wire::messages::CreateTopicsRequest;
use highwater_wire::messages::create_topics_request::CreatableTopic;

use crate::channel::{ChannelKey, Peer};
use crate::node::Node;

const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "auto-create" };

/// Asks the controller for these topics, with this broker's default settings; what is under way
/// already is not asked for again. Who asked for the metadata asks again, and then finds them.
pub(crate) fn create(node: &mut Node, names: Vec<String>) {
    let under_way = &mut node.broker_mut().auto_creating;
    let fresh: Vec<String> =
        names.into_iter().filter(|name| under_way.insert(name.clone())).collect();
    if fresh.is_empty() {
        return;
    }
    let topic = |name: &String| {
        CreatableTopic::default()
            .with_name(StrBytes::from_string(name.clone()).into())
            .with_num_partitions(node.config.num_partitions)
            .with_replication_factor(node.config.default_replication_factor)
    };
    let timeout_ms = node.config.request_timeout_ms;
    let request = CreateTopicsRequest::default()
        .with_topics(fresh.iter().map(topic).collect())
        .with_timeout_ms(i32::try_from(timeout_ms).unwrap_or(i32::MAX));
    node.kernel.call(CHANNEL, request, timeout_ms, move |node, _answer| {
        let under_way: &mut BTreeSet<String> = &mut node.broker_mut().auto_creating;
        fresh.iter().for_each(|name| {
            under_way.remove(name);
        });
    });
}
