//! Which node a client id claims to be, by the names that brokers give their own clients.

use crate::cluster::NodeId;

/// The node that calls itself `client_id`; `None` when the id claims nothing.
///
/// Replica fetchers are `broker-N-fetcher-M`, the quorum's clients `raft-client-N`, and a broker's
/// channels to the controller bear its bare id (seen on Apache Kafka 4.3.1).
pub(super) fn claimed(client_id: &str) -> Option<NodeId> {
    let fetcher = client_id.strip_prefix("broker-").and_then(|rest| rest.split_once("-fetcher-"));
    let number = match fetcher {
        Some((broker, _)) => broker,
        None => client_id.strip_prefix("raft-client-").unwrap_or(client_id),
    };
    number.parse().ok().map(NodeId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_brokers_own_clients_are_read() {
        assert_eq!(claimed("broker-3-fetcher-0"), Some(NodeId(3)));
        assert_eq!(claimed("raft-client-101"), Some(NodeId(101)));
        assert_eq!(claimed("2"), Some(NodeId(2)));
        for other in ["", "producer-1", "broker-x-fetcher-0", "rdkafka"] {
            assert_eq!(claimed(other), None, "{other}");
        }
    }
}
