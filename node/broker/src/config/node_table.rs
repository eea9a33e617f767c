//! Every property of a node's file that has an effect here, but for the defaults of topics.

use highwater_node_core::types::BrokerId;

use super::property::{Kind, Property, boolean, number};
use super::shell::Settings;

const INT_MAX: i64 = i32::MAX as i64;
const BOOLEAN: Kind = Kind::Boolean;
const INT: Kind = Kind::Number(0, INT_MAX);
const POSITIVE_INT: Kind = Kind::Number(1, INT_MAX);
const LONG: Kind = Kind::Number(0, i64::MAX);
const POSITIVE_LONG: Kind = Kind::Number(1, i64::MAX);

type Apply = fn(&mut Settings, &str);

const fn row(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    apply: Apply,
    doc: &'static str,
) -> Property<Settings> {
    Property { name, kind, default, doc, apply: Some(apply) }
}

/// A property that is read together with others, once all are known.
const fn joint(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    doc: &'static str,
) -> Property<Settings> {
    Property { name, kind, default, doc, apply: None }
}

/// All of them, by name.
pub static NODE_TABLE: &[Property<Settings>] = &[
    joint(
        "advertised.listeners",
        Kind::List,
        None,
        "The addresses that clients and other nodes are told; those of listeners if not set.",
    ),
    row(
        "auto.create.topics.enable",
        BOOLEAN,
        Some("true"),
        |s, v| s.node.auto_create_topics_enable = boolean(v),
        "Whether asking for the metadata of an unknown topic creates it.",
    ),
    row(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        Some("true"),
        |s, v| s.node.auto_leader_rebalance_enable = boolean(v),
        "Whether leadership goes back to preferred replicas by itself.",
    ),
    row(
        "broker.heartbeat.interval.ms",
        POSITIVE_INT,
        Some("2000"),
        |s, v| s.node.broker_heartbeat_interval_ms = number(v),
        "How often a broker tells the controller that it lives.",
    ),
    row(
        "broker.rack",
        Kind::Text,
        None,
        |s, v| s.node.rack = Some(v.to_owned()),
        "Where the broker stands, for spreading replicas.",
    ),
    row(
        "broker.session.timeout.ms",
        POSITIVE_INT,
        Some("9000"),
        |s, v| s.node.broker_session_timeout_ms = number(v),
        "How long a broker may be silent before the controller fences it.",
    ),
    row(
        "cluster.id",
        Kind::Text,
        None,
        |s, v| s.node.cluster_id = v.to_owned(),
        "Not in Kafka: an empty log directory is formatted for this cluster; any text will do.",
    ),
    row(
        "connections.max.idle.ms",
        LONG,
        Some("600000"),
        |s, v| s.node.connections_max_idle_ms = number(v),
        "How long a connection may be idle before it is closed.",
    ),
    joint(
        "controller.listener.names",
        Kind::List,
        None,
        "Which listeners serve the metadata quorum; the first is how controllers are reached.",
    ),
    row(
        "controller.quorum.fetch.timeout.ms",
        POSITIVE_INT,
        Some("2000"),
        |s, v| s.node.quorum_fetch_timeout_ms = number(v),
        "How long a fetch of the metadata log may take.",
    ),
    joint(
        "controller.quorum.voters",
        Kind::List,
        Some(""),
        "The controllers, each as id@host:port.",
    ),
    row(
        "default.replication.factor",
        Kind::Number(1, i16::MAX as i64),
        Some("1"),
        |s, v| s.node.default_replication_factor = number(v),
        "Replicas of a topic whose creator does not say.",
    ),
    row(
        "delete.topic.enable",
        BOOLEAN,
        Some("true"),
        |s, v| s.node.delete_topic_enable = boolean(v),
        "Whether topics can be deleted.",
    ),
    row(
        "fetch.max.bytes",
        Kind::Number(1024, INT_MAX),
        Some("57671680"),
        |s, v| s.node.replication.answer_max_bytes = number(v),
        "The most bytes that one Fetch is answered with.",
    ),
    row(
        "initial.broker.registration.timeout.ms",
        POSITIVE_INT,
        Some("60000"),
        |s, v| s.node.initial_registration_timeout_ms = number(v),
        "How long a starting broker tries to register before it gives up.",
    ),
    row(
        "inter.broker.listener.name",
        Kind::Text,
        None,
        |s, v| s.node.inter_broker_listener = v.trim().to_owned(),
        "Which listener brokers reach each other by; PLAINTEXT if not set.",
    ),
    row(
        "leader.imbalance.check.interval.seconds",
        Kind::Number(1, i64::MAX / 1000),
        Some("300"),
        |s, v| s.node.leader_imbalance_check_interval_ms = number::<u64>(v) * 1000,
        "How often leadership is compared with the preferred replicas.",
    ),
    joint(
        "listener.security.protocol.map",
        Kind::List,
        Some("SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"),
        "What each listener speaks; only PLAINTEXT is supported.",
    ),
    joint(
        "listeners",
        Kind::List,
        Some("PLAINTEXT://:9092"),
        "The sockets, each as NAME://host:port; without a host, loopback only.",
    ),
    row(
        "log.dir",
        Kind::Text,
        Some("/tmp/kafka-logs"),
        |s, v| s.node.log_dir = v.trim().to_owned(),
        "The log directory, when log.dirs is not set.",
    ),
    joint("log.dirs", Kind::List, None, "The log directory; this node keeps exactly one."),
    row(
        "max.connections",
        INT,
        Some("2147483647"),
        |s, v| s.node.max_connections = number(v),
        "How many connections are open at most.",
    ),
    row(
        "max.incremental.fetch.session.cache.slots",
        INT,
        Some("1000"),
        |s, v| s.node.replication.fetch_session_slots = number(v),
        "How many incremental fetch sessions are kept, of 200,000 partitions together.",
    ),
    row(
        "max.request.partition.size.limit",
        POSITIVE_INT,
        Some("2000"),
        |s, v| s.node.max_request_partition_size_limit = number(v),
        "The most partitions that DescribeTopicPartitions answers with at once.",
    ),
    joint("node.id", INT, None, "The node's number, unique in the cluster."),
    row(
        "num.partitions",
        POSITIVE_INT,
        Some("1"),
        |s, v| s.node.num_partitions = number(v),
        "Partitions of a topic whose creator does not say.",
    ),
    joint(
        "process.roles",
        Kind::Choices(&["broker", "controller"]),
        None,
        "What the process is: broker, controller, or both.",
    ),
    row(
        "producer.id.expiration.check.interval.ms",
        POSITIVE_INT,
        Some("600000"),
        |s, v| s.node.replication.producer_id_expiration_check_interval_ms = number(v),
        "How often silent producers are looked for.",
    ),
    row(
        "producer.id.expiration.ms",
        POSITIVE_INT,
        Some("86400000"),
        |s, v| s.node.replication.producer_id_expiration_ms = number(v),
        "How long the state of a silent producer is kept (rule 44).",
    ),
    row(
        "queued.max.request.bytes",
        Kind::Number(-1, i64::MAX),
        Some("-1"),
        |s, v| s.shell.queued_max_request_bytes = usize::try_from(number::<i64>(v)).ok(),
        "Bytes of requests in memory above which no more are read; -1 for no limit.",
    ),
    row(
        "replica.fetch.backoff.ms",
        INT,
        Some("1000"),
        |s, v| s.node.replication.fetch_backoff_ms = number(v),
        "How long a follower waits after a failed fetch.",
    ),
    row(
        "replica.fetch.max.bytes",
        INT,
        Some("1048576"),
        |s, v| s.node.replication.fetch_max_bytes = number(v),
        "How many bytes of one partition a follower asks for.",
    ),
    row(
        "replica.fetch.min.bytes",
        INT,
        Some("1"),
        |s, v| s.node.replication.fetch_min_bytes = number(v),
        "How many bytes a follower waits for.",
    ),
    row(
        "replica.fetch.response.max.bytes",
        INT,
        Some("10485760"),
        |s, v| s.node.replication.fetch_response_max_bytes = number(v),
        "How many bytes of all partitions a follower asks for.",
    ),
    row(
        "replica.fetch.wait.max.ms",
        INT,
        Some("500"),
        |s, v| s.node.replication.fetch_wait_max_ms = number(v),
        "How long a leader may keep a follower's fetch waiting.",
    ),
    row(
        "replica.high.watermark.checkpoint.interval.ms",
        POSITIVE_LONG,
        Some("5000"),
        |s, v| s.node.replication.high_watermark_checkpoint_interval_ms = number(v),
        "How often high watermarks are written to disk.",
    ),
    row(
        "replica.lag.time.max.ms",
        POSITIVE_LONG,
        Some("30000"),
        |s, v| s.node.replication.lag_time_max_ms = number(v),
        "How long a follower may lag before it leaves the ISR (rule 24).",
    ),
    row(
        "replica.socket.timeout.ms",
        POSITIVE_INT,
        Some("30000"),
        |s, v| s.node.replication.socket_timeout_ms = number(v),
        "How long a follower waits for an answer.",
    ),
    row(
        "request.timeout.ms",
        POSITIVE_INT,
        Some("30000"),
        |s, v| s.node.request_timeout_ms = number(v),
        "How long requests to other nodes may take.",
    ),
    row(
        "socket.connection.setup.timeout.ms",
        POSITIVE_LONG,
        Some("10000"),
        |s, v| s.shell.connection_setup_timeout_ms = number(v),
        "How long opening a connection to another node may take.",
    ),
    row(
        "socket.listen.backlog.size",
        POSITIVE_INT,
        Some("50"),
        |s, v| s.shell.listen_backlog = number(v),
        "How many connections may wait to be accepted.",
    ),
    row(
        "socket.request.max.bytes",
        POSITIVE_INT,
        Some("104857600"),
        |s, v| s.shell.request_max_bytes = number(v),
        "The largest request; a larger one closes its connection.",
    ),
    row(
        "unclean.leader.election.enable",
        BOOLEAN,
        Some("false"),
        |s, v| s.node.unclean_leader_election_enable = boolean(v),
        "Whether a replica outside of the ISR may lead where the topic does not say (rule 27).",
    ),
    row(
        "unclean.leader.election.interval.ms",
        POSITIVE_LONG,
        Some("300000"),
        |s, v| s.node.unclean_leader_election_interval_ms = number(v),
        "How often partitions without a leader are looked at for an unclean election (rule 85).",
    ),
];

/// Sets what `node.id` and `process.roles` say.
pub(super) fn apply_identity(settings: &mut Settings, id: &str, roles: &str) {
    settings.node.node_id = BrokerId(number(id));
    let has = |role: &str| roles.split(',').any(|entry| entry.trim() == role);
    settings.node.is_broker = has("broker");
    settings.node.is_controller = has("controller");
}
