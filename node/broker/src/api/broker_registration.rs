//! BrokerRegistration: a broker process asks to be part of the cluster (KIP-631).

use highwater_node_core::controller::request::RegisterBroker;
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::metadata::record::{DirectoryId, Endpoint, FeatureRange, IncarnationId};
use highwater_node_core::types::{BrokerEpoch, BrokerId};
use highwater_wire::ErrorCode;
use highwater_wire::messages::broker_registration_request::{Feature, Listener};
use highwater_wire::messages::{BrokerRegistrationRequest, BrokerRegistrationResponse};

use crate::controller::answer;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(BrokerRegistration, Controller, handle);

fn handle(node: &mut Node, request: BrokerRegistrationRequest, reply: ReplyToken) {
    let asked = Request::RegisterBroker(register(request));
    let refused = response(ErrorCode::NotController.code(), -1);
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::RegisterBroker(Ok(epoch)) => response(0, epoch.0),
        Reply::RegisterBroker(Err(refusal)) => response(refusal.code.code(), -1),
        other => unreachable!("a registration is not answered by {other:?}"),
    });
}

fn response(code: i16, broker_epoch: i64) -> BrokerRegistrationResponse {
    BrokerRegistrationResponse::default().with_error_code(code).with_broker_epoch(broker_epoch)
}

fn register(request: BrokerRegistrationRequest) -> RegisterBroker {
    let previous = request.previous_broker_epoch;
    RegisterBroker {
        broker: BrokerId(request.broker_id.0),
        cluster_id: request.cluster_id.to_string(),
        incarnation: IncarnationId(request.incarnation_id.as_u128()),
        endpoints: request.listeners.iter().map(endpoint).collect(),
        features: request.features.iter().map(feature).collect(),
        rack: request.rack.map(|rack| rack.to_string()),
        log_dirs: request.log_dirs.iter().map(|id| DirectoryId(id.as_u128())).collect(),
        previous_epoch: (previous >= 0).then_some(BrokerEpoch(previous)),
    }
}

fn endpoint(listener: &Listener) -> Endpoint {
    Endpoint {
        listener: listener.name.to_string(),
        host: listener.host.to_string(),
        port: listener.port,
        security_protocol: listener.security_protocol,
    }
}

fn feature(feature: &Feature) -> FeatureRange {
    FeatureRange {
        name: feature.name.to_string(),
        min: feature.min_supported_version,
        max: feature.max_supported_version,
    }
}
