//! Metadata: brokers, topics, leaders and replicas, as this broker knows them.

use std::collections::BTreeSet;

use highwater_node_core::controller::check_topic_name;
use highwater_node_core::metadata::{Partition, Topic};
use highwater_node_core::types::{BrokerId, TopicId};
use highwater_wire::messages::metadata_request::MetadataRequestTopic;
use highwater_wire::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use highwater_wire::messages::{MetadataRequest, MetadataResponse};
use highwater_wire::{ErrorCode, StrBytes};
use rand::RngExt;
use uuid::Uuid;

use crate::broker::auto_create;
use crate::broker::cluster_view::{
    CLUSTER_OPERATIONS, ClusterView, OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS, is_internal, wire_ids,
};
use crate::node::Node;
use crate::once::firsts;
use crate::reply::ReplyToken;

entry!(Metadata, Broker, handle);

/// The first version in which a topic may be asked for by its id (rule 76).
const FIRST_BY_ID: i16 = 12;

fn handle(node: &mut Node, request: MetadataRequest, reply: ReplyToken) {
    if reply.version() < FIRST_BY_ID && request.topics.iter().flatten().any(is_by_id) {
        return node.kernel.reply(reply, refuse(&request));
    }
    let may_create = request.allow_auto_topic_creation && node.config.auto_create_topics_enable;
    let pick = node.kernel.random().random();
    let answer = Answer {
        view: ClusterView::new(node.broker().image(), reply.listener_name()),
        node,
        version: reply.version(),
        topic_operations: request.include_topic_authorized_operations,
    };
    let mut missing = BTreeSet::new();
    let topics = answer.topics(request.topics.as_deref(), &mut missing);
    let response = answer.cluster(request.include_cluster_authorized_operations);
    let controller = answer.view.any_alive(pick);
    if may_create {
        auto_create::create(node, missing.into_iter().collect());
    }
    let response = response.with_controller_id(controller.0.into()).with_topics(topics);
    node.kernel.reply(reply, response);
}

/// Topics by id before ids may be asked for: nothing is answered but the error.
fn refuse(request: &MetadataRequest) -> MetadataResponse {
    let refused = |asked: &MetadataRequestTopic| {
        MetadataResponseTopic::default()
            .with_error_code(ErrorCode::InvalidRequest.code())
            .with_name(Some(asked.name.clone().unwrap_or_default()))
            .with_topic_id(asked.topic_id)
    };
    MetadataResponse::default()
        .with_cluster_id(None)
        .with_topics(request.topics.iter().flatten().map(refused).collect())
}

fn is_by_id(asked: &MetadataRequestTopic) -> bool {
    asked.name.is_none() || !asked.topic_id.is_nil()
}

/// One answer in the making.
struct Answer<'a> {
    node: &'a Node,
    view: ClusterView<'a>,
    version: i16,
    topic_operations: bool,
}

impl Answer<'_> {
    fn cluster(&self, operations: bool) -> MetadataResponse {
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let brokers = self.view.alive().map(|broker| {
            MetadataResponseBroker::default()
                .with_node_id(broker.id.0.into())
                .with_host(text(broker.host))
                .with_port(broker.port.into())
                .with_rack(broker.rack.map(text))
        });
        let allowed = if operations { CLUSTER_OPERATIONS } else { OPERATIONS_NOT_ASKED };
        MetadataResponse::default()
            .with_brokers(brokers.collect())
            .with_cluster_id(Some(text(&self.node.config.cluster_id)))
            .with_cluster_authorized_operations(allowed)
    }

    /// The topics asked for; the legal names among them that do not exist are added to `missing`.
    fn topics(
        &self,
        asked: Option<&[MetadataRequestTopic]>,
        missing: &mut BTreeSet<String>,
    ) -> Vec<MetadataResponseTopic> {
        let image = self.node.broker().image();
        match asked {
            None => image.topics.iter().map(|(&id, topic)| self.topic(id, topic)).collect(),
            Some([]) if self.version == 0 => self.topics(None, missing),
            Some(asked) if asked.iter().any(is_by_id) => {
                // ids and names do not mix: as in Kafka, names are then not looked at
                let asked = asked.iter().filter(|topic| is_by_id(topic));
                let once = firsts(asked, |topic| topic.topic_id);
                once.map(|topic| self.by_id(topic)).collect()
            }
            Some(asked) => {
                let once = firsts(asked.iter(), |topic| topic.name.as_deref());
                once.map(|topic| self.by_name(topic, missing)).collect()
            }
        }
    }

    fn by_id(&self, asked: &MetadataRequestTopic) -> MetadataResponseTopic {
        let id = TopicId(asked.topic_id.as_u128());
        match self.node.broker().image().topics.get(&id) {
            Some(topic) => self.topic(id, topic),
            None => MetadataResponseTopic::default()
                .with_error_code(ErrorCode::UnknownTopicId.code())
                .with_name(None)
                .with_topic_id(asked.topic_id),
        }
    }

    fn by_name(
        &self,
        asked: &MetadataRequestTopic,
        missing: &mut BTreeSet<String>,
    ) -> MetadataResponseTopic {
        let name = asked.name.as_ref().map_or("", |name| name.as_str());
        match self.node.broker().image().topic_named(name) {
            Some((id, topic)) => self.topic(id, topic),
            None if check_topic_name(name).is_err() => {
                self.absent(name, ErrorCode::InvalidTopicException)
            }
            None => {
                missing.insert(name.to_owned());
                self.absent(name, ErrorCode::UnknownTopicOrPartition)
            }
        }
    }

    fn absent(&self, name: &str, error: ErrorCode) -> MetadataResponseTopic {
        MetadataResponseTopic::default()
            .with_error_code(error.code())
            .with_name(Some(StrBytes::from_string(name.to_owned()).into()))
            .with_is_internal(is_internal(name))
            .with_topic_authorized_operations(self.operations())
    }

    fn operations(&self) -> i32 {
        if self.topic_operations { TOPIC_OPERATIONS } else { OPERATIONS_NOT_ASKED }
    }

    fn topic(&self, id: TopicId, topic: &Topic) -> MetadataResponseTopic {
        let partition = |(&index, partition)| self.partition(index, partition);
        // versions without a field must see its default
        let known_id = if self.version >= 10 { Uuid::from_u128(id.0) } else { Uuid::nil() };
        MetadataResponseTopic::default()
            .with_name(Some(StrBytes::from_string(topic.name.clone()).into()))
            .with_topic_id(known_id)
            .with_is_internal(is_internal(&topic.name))
            .with_partitions(topic.partitions.iter().map(partition).collect())
            .with_topic_authorized_operations(self.operations())
    }

    fn partition(&self, index: i32, partition: &Partition) -> MetadataResponsePartition {
        let state = &partition.state;
        let (leader, error) = self.view.leader(partition);
        let response = MetadataResponsePartition::default()
            .with_error_code(error.code())
            .with_partition_index(index)
            .with_leader_id(leader.0.into())
            .with_leader_epoch(state.leader_epoch.0)
            .with_replica_nodes(wire_ids(&state.replicas))
            .with_isr_nodes(wire_ids(&state.isr))
            .with_offline_replicas(self.view.offline(partition));
        if self.version == 0 { self.only_known_replicas(response) } else { response }
    }

    /// Version 0 names only brokers that it also describes, and says so.
    fn only_known_replicas(
        &self,
        mut response: MetadataResponsePartition,
    ) -> MetadataResponsePartition {
        let known = |id: i32| !self.view.is_unknown(BrokerId(id));
        let before = response.replica_nodes.len() + response.isr_nodes.len();
        response.replica_nodes.retain(|id| known(id.0));
        response.isr_nodes.retain(|id| known(id.0));
        let after = response.replica_nodes.len() + response.isr_nodes.len();
        if before != after && response.error_code == ErrorCode::None.code() {
            response.error_code = ErrorCode::ReplicaNotAvailable.code();
        }
        response
    }
}
