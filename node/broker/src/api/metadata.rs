//! Metadata: brokers, topics, leaders and replicas, as this broker knows them.

use std::collections::BTreeSet;

use highwater_node_core::controller::check_topic_name;
use highwater_node_core::metadata::{Partition, Topic};
use highwater_node_core::types::TopicId;
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
use crate::reply::ReplyToken;

entry!(Metadata, Broker, handle);

/// The first version in which a topic may be asked for by its id (rule 76).
const FIRST_BY_ID: i16 = 12;

fn handle(node: &mut Node, request: MetadataRequest, reply: ReplyToken) {
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
            Some(asked) => asked.iter().map(|topic| self.asked_topic(topic, missing)).collect(),
        }
    }

    fn asked_topic(
        &self,
        asked: &MetadataRequestTopic,
        missing: &mut BTreeSet<String>,
    ) -> MetadataResponseTopic {
        let image = self.node.broker().image();
        let id = TopicId(asked.topic_id.as_u128());
        let by_id = asked.name.is_none() || id != TopicId::default();
        if by_id && self.version < FIRST_BY_ID {
            return self.absent(asked, ErrorCode::InvalidRequest);
        }
        if by_id {
            return match image.topics.get(&id) {
                Some(topic) => self.topic(id, topic),
                None => self.absent(asked, ErrorCode::UnknownTopicId).with_topic_id(asked.topic_id),
            };
        }
        let name = asked.name.as_ref().map_or("", |name| name.as_str());
        match image.topic_named(name) {
            Some((id, topic)) => self.topic(id, topic),
            None if check_topic_name(name).is_err() => {
                self.absent(asked, ErrorCode::InvalidTopicException)
            }
            None => {
                missing.insert(name.to_owned());
                self.absent(asked, ErrorCode::UnknownTopicOrPartition)
            }
        }
    }

    fn absent(&self, asked: &MetadataRequestTopic, error: ErrorCode) -> MetadataResponseTopic {
        let null_allowed = self.version >= FIRST_BY_ID;
        let name = if null_allowed {
            asked.name.clone()
        } else {
            Some(asked.name.clone().unwrap_or_default())
        };
        let internal = asked.name.as_ref().is_some_and(|name| is_internal(name));
        MetadataResponseTopic::default()
            .with_error_code(error.code())
            .with_name(name)
            .with_is_internal(internal)
            .with_topic_authorized_operations(OPERATIONS_NOT_ASKED)
    }

    fn topic(&self, id: TopicId, topic: &Topic) -> MetadataResponseTopic {
        let operations =
            if self.topic_operations { TOPIC_OPERATIONS } else { OPERATIONS_NOT_ASKED };
        let partition = |(&index, partition)| self.partition(index, partition);
        // versions without a field must see its default
        let known_id = if self.version >= 10 { Uuid::from_u128(id.0) } else { Uuid::nil() };
        MetadataResponseTopic::default()
            .with_name(Some(StrBytes::from_string(topic.name.clone()).into()))
            .with_topic_id(known_id)
            .with_is_internal(is_internal(&topic.name))
            .with_partitions(topic.partitions.iter().map(partition).collect())
            .with_topic_authorized_operations(operations)
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
        let known = |id: &i32| !self.view.is_unknown(highwater_node_core::types::BrokerId(*id));
        let before = response.replica_nodes.len() + response.isr_nodes.len();
        response.replica_nodes.retain(|id| known(id));
        response.isr_nodes.retain(|id| known(id));
        let after = response.replica_nodes.len() + response.isr_nodes.len();
        if before != after && response.error_code == ErrorCode::None.code() {
            response.error_code = ErrorCode::ReplicaNotAvailable.code();
        }
        response
    }
}
