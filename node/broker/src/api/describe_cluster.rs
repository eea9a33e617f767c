//! DescribeCluster: the cluster's id with its brokers, or its controllers (KIP-700, KIP-919).

use highwater_node_core::metadata::Image;
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::describe_cluster_response::DescribeClusterBroker;
use highwater_wire::messages::{DescribeClusterRequest, DescribeClusterResponse};
use highwater_wire::{ErrorCode, StrBytes};
use rand::RngExt;

use crate::broker::cluster_view::{
    CLUSTER_OPERATIONS, ClusterView, NO_BROKER, OPERATIONS_NOT_ASKED, Reachable,
};
use crate::connection::ListenerKind;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DescribeCluster, Both, handle);

/// The endpoint type of brokers.
const BROKERS: i8 = 1;
/// The endpoint type of controllers.
const CONTROLLERS: i8 = 2;

fn handle(node: &mut Node, request: DescribeClusterRequest, reply: ReplyToken) {
    let served = match reply.listener() {
        ListenerKind::Broker => BROKERS,
        ListenerKind::Controller => CONTROLLERS,
    };
    if request.endpoint_type != served {
        let refused = DescribeClusterResponse::default()
            .with_error_code(ErrorCode::MismatchedEndpointType.code())
            .with_error_message(Some(StrBytes::from_static_str(
                "this listener describes endpoints of the other type: 1 brokers, 2 controllers",
            )));
        return node.kernel.reply(reply, refused);
    }
    let operations = match request.include_cluster_authorized_operations {
        true => CLUSTER_OPERATIONS,
        false => OPERATIONS_NOT_ASKED,
    };
    let (controller, members) = match served {
        BROKERS => brokers(node, &reply, request.include_fenced_brokers),
        _ => controllers(node, &reply),
    };
    let response = DescribeClusterResponse::default()
        .with_endpoint_type(served)
        .with_cluster_id(StrBytes::from_string(node.config.cluster_id.clone()))
        .with_controller_id(controller.0.into())
        .with_brokers(members)
        .with_cluster_authorized_operations(operations);
    node.kernel.reply(reply, response);
}

/// The brokers, and one that passes requests on to the controller.
fn brokers(
    node: &mut Node,
    reply: &ReplyToken,
    fenced: bool,
) -> (BrokerId, Vec<DescribeClusterBroker>) {
    let pick = node.kernel.random().random();
    let view = ClusterView::new(node.broker().image(), reply.listener_name());
    let asked = |broker: &Reachable<'_>| !broker.fenced || fenced;
    (view.any_alive(pick), view.registered().filter(asked).map(describe).collect())
}

/// The registered controllers, and the active one.
fn controllers(node: &Node, reply: &ReplyToken) -> (BrokerId, Vec<DescribeClusterBroker>) {
    let controller = node.controller();
    let active = controller.quorum().state().leader.unwrap_or(NO_BROKER);
    (active, reachable_controllers(controller.image(), reply.listener_name()))
}

fn reachable_controllers(image: &Image, listener: &str) -> Vec<DescribeClusterBroker> {
    let reachable = image.controllers.iter().filter_map(|(&id, registered)| {
        let endpoint = registered.endpoints.iter().find(|e| e.listener == listener)?;
        let (host, port) = (endpoint.host.as_str(), endpoint.port);
        Some(describe(Reachable { id, host, port, rack: None, fenced: false }))
    });
    reachable.collect()
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
