//! DescribeCluster: the cluster's id and its brokers (KIP-700).

use highwater_wire::messages::describe_cluster_response::DescribeClusterBroker;
use highwater_wire::messages::{DescribeClusterRequest, DescribeClusterResponse};
use highwater_wire::{ErrorCode, StrBytes};

use rand::RngExt;

use crate::broker::cluster_view::{
    CLUSTER_OPERATIONS, ClusterView, OPERATIONS_NOT_ASKED, Reachable,
};
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DescribeCluster, Broker, handle);

/// The endpoint type that asks for brokers; 2 asks for controllers, which a broker does not list.
const BROKERS: i8 = 1;

fn handle(node: &mut Node, request: DescribeClusterRequest, reply: ReplyToken) {
    if request.endpoint_type != BROKERS {
        let refused = DescribeClusterResponse::default()
            .with_error_code(ErrorCode::MismatchedEndpointType.code());
        return node.kernel.reply(reply, refused);
    }
    let pick = node.kernel.random().random();
    let view = ClusterView::new(node.broker().image(), reply.listener_name());
    let asked = |broker: &Reachable<'_>| !broker.fenced || request.include_fenced_brokers;
    let brokers = view.registered().filter(asked).map(describe).collect();
    let controller = view.any_alive(pick);
    let operations = match request.include_cluster_authorized_operations {
        true => CLUSTER_OPERATIONS,
        false => OPERATIONS_NOT_ASKED,
    };
    let response = DescribeClusterResponse::default()
        .with_cluster_id(StrBytes::from_string(node.config.cluster_id.clone()))
        .with_controller_id(controller.0.into())
        .with_brokers(brokers)
        .with_cluster_authorized_operations(operations);
    node.kernel.reply(reply, response);
}

fn describe(broker: Reachable<'_>) -> DescribeClusterBroker {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    DescribeClusterBroker::default()
        .with_broker_id(broker.id.0.into())
        .with_host(text(broker.host))
        .with_port(broker.port.into())
        .with_rack(broker.rack.map(text))
        .with_is_fenced(broker.fenced)
}
