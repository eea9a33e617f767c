//! What the node's log tells of committed decisions.

use highwater_node_core::metadata::Record;
use highwater_node_core::metadata::record::PartitionChangeRecord;
use highwater_node_core::types::BrokerId;

use crate::event::Event;
use crate::metadata_log::DecodedBatch;
use crate::node::Node;

/// Tells of brokers that came or went and of leaders and ISRs that changed, once this controller is
/// active: what it only read from its log was told before.
pub(super) fn tell(node: &mut Node, batches: &[DecodedBatch]) {
    if node.controller().active.is_none() {
        return;
    }
    for record in batches.iter().flat_map(|batch| &batch.records) {
        if let Some(event) = event(node, record) {
            node.kernel.event(event);
        }
    }
}

fn event(node: &Node, record: &Record) -> Option<Event> {
    match record {
        Record::RegisterBroker(r) => {
            Some(Event::BrokerRegistered { broker: r.broker.0, broker_epoch: r.broker_epoch.0 })
        }
        Record::BrokerRegistrationChange(r) => match (r.fenced, r.in_controlled_shutdown) {
            (Some(true), _) => Some(Event::BrokerFenced { broker: r.broker.0 }),
            (Some(false), _) => Some(Event::BrokerUnfenced { broker: r.broker.0 }),
            (None, true) => Some(Event::BrokerStopping { broker: r.broker.0 }),
            (None, false) => None,
        },
        Record::PartitionChange(r) => partition_event(node, r),
        _ => None,
    }
}

fn partition_event(node: &Node, record: &PartitionChangeRecord) -> Option<Event> {
    let image = node.controller().image();
    let topic = image.topics.get(&record.partition.topic)?;
    let partition = format!("{}-{}", topic.name, record.partition.index);
    let numbers = |brokers: &Vec<BrokerId>| brokers.iter().map(|id| id.0).collect();
    Some(Event::PartitionChanged {
        partition,
        leader: record.leader.map(|leader| leader.map_or(-1, |id| id.0)),
        isr: record.isr.as_ref().map(numbers),
        unclean: record.recovering == Some(true),
    })
}
