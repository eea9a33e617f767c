//! The metadata as a client of one listener sees it.

use highwater_node_core::metadata::{Broker, Image, Partition};
use highwater_node_core::types::BrokerId;
use highwater_wire::ErrorCode;
use highwater_wire::messages::BrokerId as WireBrokerId;

/// Topics that belong to the cluster itself.
const INTERNAL_TOPICS: &[&str] =
    &["__consumer_offsets", "__transaction_state", "__share_group_state"];

/// What Kafka's answers name when there is no broker to name.
pub(crate) const NO_BROKER: BrokerId = BrokerId(-1);

/// Which operations an answer names where nobody is denied any: the bits of Kafka's numbers for
/// read, write, create, delete, alter, describe, and describing and altering configurations.
pub(crate) const TOPIC_OPERATIONS: i32 = bits(&[3, 4, 5, 6, 7, 8, 10, 11]);
/// The same for the cluster: create, alter, describe, cluster action, describing and altering
/// configurations, idempotent write.
pub(crate) const CLUSTER_OPERATIONS: i32 = bits(&[5, 7, 8, 9, 10, 11, 12]);
/// What stands there when nobody asked.
pub(crate) const OPERATIONS_NOT_ASKED: i32 = i32::MIN;

/// The metadata as a client of one listener sees it.
#[derive(Clone, Copy)]
pub(crate) struct ClusterView<'a> {
    image: &'a Image,
    listener: &'a str,
}

/// A broker that a client can connect to.
#[derive(Clone, Debug)]
pub(crate) struct Reachable<'a> {
    pub(crate) id: BrokerId,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) rack: Option<&'a str>,
    pub(crate) fenced: bool,
}

impl<'a> ClusterView<'a> {
    pub(crate) fn new(image: &'a Image, listener: &'a str) -> ClusterView<'a> {
        ClusterView { image, listener }
    }

    /// All registered brokers that have this listener.
    pub(crate) fn registered(self) -> impl Iterator<Item = Reachable<'a>> {
        self.image.brokers.iter().filter_map(move |(&id, broker)| {
            let endpoint = broker.endpoint(self.listener)?;
            Some(Reachable {
                id,
                host: &endpoint.host,
                port: endpoint.port,
                rack: broker.rack.as_deref(),
                fenced: broker.fenced,
            })
        })
    }

    /// Those of them that are not fenced.
    pub(crate) fn alive(self) -> impl Iterator<Item = Reachable<'a>> {
        self.registered().filter(|broker| !broker.fenced)
    }

    /// The broker that is named as the controller: any live one, since each passes on what only the
    /// controller can answer (KIP-590). `pick` is any number; it spreads the choice.
    pub(crate) fn any_alive(self, pick: u32) -> BrokerId {
        let count = self.alive().count().max(1);
        self.alive().nth(pick as usize % count).map_or(NO_BROKER, |broker| broker.id)
    }

    /// The leader as this listener's clients can use it, and the error when they cannot.
    pub(crate) fn leader(self, partition: &Partition) -> (BrokerId, ErrorCode) {
        let Some(leader) = partition.state.leader else {
            return (NO_BROKER, ErrorCode::LeaderNotAvailable);
        };
        match self.image.brokers.get(&leader) {
            Some(broker) if broker.endpoint(self.listener).is_some() => (leader, ErrorCode::None),
            Some(_) => (NO_BROKER, ErrorCode::ListenerNotFound),
            None => (NO_BROKER, ErrorCode::LeaderNotAvailable),
        }
    }

    /// Replicas that this listener's clients cannot use now.
    pub(crate) fn offline(self, partition: &Partition) -> Vec<WireBrokerId> {
        let offline = |id: &&BrokerId| self.is_offline(self.image.brokers.get(id));
        partition.state.replicas.iter().filter(offline).map(|id| id.0.into()).collect()
    }

    /// True when no broker of this id is registered with this listener.
    pub(crate) fn is_unknown(self, id: BrokerId) -> bool {
        self.image.brokers.get(&id).is_none_or(|broker| broker.endpoint(self.listener).is_none())
    }

    fn is_offline(self, broker: Option<&Broker>) -> bool {
        broker.is_none_or(|broker| broker.fenced || broker.endpoint(self.listener).is_none())
    }
}

/// True for a topic that belongs to the cluster itself.
pub(crate) fn is_internal(topic: &str) -> bool {
    INTERNAL_TOPICS.contains(&topic)
}

/// Broker ids as the wire has them.
pub(crate) fn wire_ids(ids: &[BrokerId]) -> Vec<WireBrokerId> {
    ids.iter().map(|id| id.0.into()).collect()
}

const fn bits(numbers: &[u32]) -> i32 {
    let mut bits = 0;
    let mut at = 0;
    while at < numbers.len() {
        bits |= 1 << numbers[at];
        at += 1;
    }
    bits
}
