//! The tables against Kafka's own, the docs against the tables, and what is refused.

use std::collections::BTreeMap;

use highwater_node_core::controller::{ConfigKind, ConfigRules};
use highwater_node_core::metadata::record::Resource;
use highwater_node_core::types::BrokerId;

use super::load::KAFKA;
use super::property::Property;
use super::{
    ConfigError, Kind, Loaded, NODE_TABLE, Settings, TOPIC_TABLE, TableRules, TopicConfig, load,
};

const KAFKA_TOPICS: &str = include_str!("kafka-4.3.1-topic.tsv");

const GOOD: &str = "\
# a broker
process.roles=broker
node.id=1
controller.quorum.voters=9@127.0.0.1:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:19092
log.dirs=/var/lib/highwater
";

fn read(text: &str) -> Result<Loaded, ConfigError> {
    load(text, &[])
}

fn with(line: &str) -> Result<Loaded, ConfigError> {
    read(&format!("{GOOD}{line}\n"))
}

fn sentence(line: &str) -> String {
    with(line).unwrap_err().to_string()
}

/// Kafka's defaults by name; none for null and for what must be set.
fn kafka(table: &'static str) -> BTreeMap<&'static str, Option<&'static str>> {
    let columns = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let default = |text| Some(text).filter(|text| !matches!(*text, "null" | "<required>"));
    columns.map(|columns| (columns[0], default(columns[2]))).collect()
}

fn compare<C>(property: &Property<C>, kafka: &BTreeMap<&str, Option<&str>>) {
    // An own property, named as such in its text.
    if property.doc.starts_with("Not in Kafka") {
        assert!(!kafka.contains_key(property.name), "{}", property.name);
        return;
    }
    assert_eq!(Some(&property.default), kafka.get(property.name), "{}", property.name);
}

#[test]
fn every_default_is_kafkas() {
    let node = kafka(KAFKA);
    NODE_TABLE.iter().for_each(|property| compare(property, &node));
    let topics = kafka(KAFKA_TOPICS);
    TOPIC_TABLE.iter().for_each(|row| compare(&row.property, &topics));
    let names: Vec<&str> = TOPIC_TABLE.iter().map(|row| row.property.name).collect();
    assert!(topics.keys().all(|name| names.contains(name) || name.starts_with("remote.")));
}

#[test]
fn every_node_name_of_a_topics_property_has_its_default() {
    let node = kafka(KAFKA);
    for row in TOPIC_TABLE {
        let Some(default) = row.property.default else { continue };
        let set: Vec<(String, String)> = row
            .node_names
            .iter()
            .filter_map(|(name, _)| node[name].map(|value| (name.to_string(), value.to_owned())))
            .collect();
        let value = row.value_in(&set.into_iter().collect());
        assert_eq!(value.unwrap_or(default.to_owned()), default, "{}", row.property.name);
    }
}

#[test]
fn what_the_tables_apply_by_default_is_what_the_types_have_by_default() {
    let mut settings = Settings::default();
    for property in NODE_TABLE {
        if let (Some(apply), Some(default)) = (property.apply, property.default) {
            property.kind.check(default).unwrap();
            apply(&mut settings, default);
        }
    }
    assert_eq!(settings, Settings::default());
    let mut topic = TopicConfig::default();
    for row in TOPIC_TABLE {
        if let (Some(apply), Some(default)) = (row.property.apply, row.property.default) {
            row.property.kind.check(default).unwrap();
            apply(&mut topic, default);
        }
    }
    assert_eq!(topic, TopicConfig::default());
}

#[test]
fn tables_are_in_order_and_every_row_has_a_sentence() {
    let sorted = |names: &[&str]| names.windows(2).all(|pair| pair[0] < pair[1]);
    let shown = TOPIC_TABLE.len() - 1;
    let names: Vec<&str> = NODE_TABLE.iter().map(|property| property.name).collect();
    assert!(sorted(&names));
    let names: Vec<&str> = TOPIC_TABLE[..shown].iter().map(|row| row.property.name).collect();
    assert!(sorted(&names));
    let docs = NODE_TABLE.iter().map(|property| property.doc);
    assert!(docs.chain(TOPIC_TABLE.iter().map(|row| row.property.doc)).all(|d| d.ends_with('.')));
}

#[test]
fn a_file_becomes_settings() {
    let loaded = with("replica.lag.time.max.ms = 1000\nbroker.rack=r1\nlog.roll.hours=2").unwrap();
    let node = &loaded.settings.node;
    assert_eq!((node.node_id, node.is_broker, node.is_controller), (BrokerId(1), true, false));
    assert_eq!(node.replication.lag_time_max_ms, 1_000);
    assert_eq!(node.replication.topic_defaults.log.segment_ms, 7_200_000);
    assert_eq!(node.rack.as_deref(), Some("r1"));
    assert_eq!(node.voters[&BrokerId(9)], "127.0.0.1:9093");
    assert_eq!(node.listeners[0].advertised_port, 19092);
    assert_eq!(loaded.settings.node.log_dir, "/var/lib/highwater");
    assert_eq!(loaded.without_effect, Vec::<String>::new());
}

#[test]
fn overrides_win_over_the_file() {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let overrides = [set("node.id", "2"), set("node.id", "3")];
    assert_eq!(load(GOOD, &overrides).unwrap().settings.node.node_id, BrokerId(3));
}

#[test]
fn other_properties_are_accepted_without_effect() {
    let loaded =
        with("num.network.threads=3\nlog.retention.hours=5\nmy.plugin.color=blue").unwrap();
    let wanted = ["log.retention.hours", "my.plugin.color", "num.network.threads"];
    assert_eq!(loaded.without_effect, wanted);
}

#[test]
fn slips_of_the_pen_are_refused_with_the_name_that_was_meant() {
    assert_eq!(
        sentence("broker.sesion.timeout.ms=500"),
        "there is no property broker.sesion.timeout.ms; did you mean broker.session.timeout.ms?"
    );
    assert!(matches!(with("listener=x"), Err(ConfigError::Misspelt { .. })));
}

#[test]
fn values_are_refused_with_the_bound_that_they_break() {
    for (line, wanted) in [
        ("num.partitions=0", "num.partitions is \"0\", but must be at least 1"),
        ("num.partitions=few", "num.partitions is \"few\", which is no whole number"),
        (
            "auto.create.topics.enable=yes",
            "auto.create.topics.enable is \"yes\", which is neither true nor false",
        ),
        (
            "log.dirs=/a,/b",
            "log.dirs is \"/a,/b\", but this node keeps one log directory: name one",
        ),
        (
            "compression.type=brotli",
            "compression.type is \"brotli\", which is none of uncompressed, zstd, lz4, snappy, \
             gzip, producer",
        ),
        (
            "listeners=PLAINTEXT:9092",
            "listeners is \"PLAINTEXT:9092\", but PLAINTEXT:9092 is not NAME://host:port",
        ),
        (
            "listeners=SSL://:1",
            "listeners is \"SSL://:1\", but listener SSL speaks SSL: only PLAINTEXT is supported",
        ),
        (
            "controller.quorum.voters=x",
            "controller.quorum.voters is \"x\", but x is not id@host:port",
        ),
        (
            "listeners=PLAINTEXT://:19092,CONTROLLER://:19093",
            "listeners is \"PLAINTEXT://:19092,CONTROLLER://:19093\", but CONTROLLER is for \
             controllers, and this node is none",
        ),
        (
            "process.roles=controller",
            "listeners is \"PLAINTEXT://127.0.0.1:19092\", but PLAINTEXT is for brokers, and this \
             node is none",
        ),
        (
            "process.roles=broker,controller",
            "controller.listener.names is \"CONTROLLER\", but listeners has no CONTROLLER",
        ),
    ] {
        assert_eq!(sentence(line), wanted);
    }
}

#[test]
fn names_of_controllers_listeners_are_checked_as_kafka_does() {
    let map = "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,S:SSL\n";
    let serving = "process.roles=controller\ncontroller.quorum.voters=1@127.0.0.1:9093\n\
                   listeners=CONTROLLER://127.0.0.1:9093\n";
    let names = |names: &str, more: &str| {
        let more = format!("{more}controller.listener.names={names}");
        with(&more).map_err(|error| error.to_string())
    };
    let refused =
        |list: &str, why: &str| Err(format!("controller.listener.names is {list:?}, but {why}"));
    let unknown = |name| format!("listener.security.protocol.map does not say what {name} speaks");
    assert_eq!(names("CONTROLER", map), refused("CONTROLER", &unknown("CONTROLER")));
    assert_eq!(names("CONTROLLER,X", map), refused("CONTROLLER,X", &unknown("X")));
    assert_eq!(
        names("S,CONTROLLER", map),
        refused("S,CONTROLLER", "listener S speaks SSL: only PLAINTEXT is supported")
    );
    assert_eq!(names(",", map), refused(",", "a name is needed"));
    assert_eq!(names("CONTROLLER,X", serving), refused("CONTROLLER,X", "listeners has no X"));
    let both = "process.roles=broker,controller\ncontroller.quorum.voters=1@127.0.0.1:19092\n";
    let none_for_brokers = names("PLAINTEXT", both).unwrap_err();
    assert!(none_for_brokers.ends_with("needs a listener PLAINTEXT for brokers"));
    // A broker's names are mapped in any case, and need no map when the file has none.
    for (list, more) in
        [("controller", map), ("CONTROLLER,S", map), ("ANY", ""), ("CONTROLLER", serving)]
    {
        assert!(names(list, more).is_ok(), "{list}");
    }
}

#[test]
fn a_controller_among_several_is_refused_until_they_can_elect_one() {
    let several = "controller.quorum.voters=1@127.0.0.1:9093,2@127.0.0.1:9094\n\
                   listeners=CONTROLLER://127.0.0.1:9093\n";
    assert_eq!(
        read(&format!("{GOOD}{several}process.roles=controller\n")).unwrap_err().to_string(),
        "controller.quorum.voters is \"1@127.0.0.1:9093,2@127.0.0.1:9094\", but this node cannot \
         elect a leader among several yet: name one",
    );
    let broker = "controller.quorum.voters=8@127.0.0.1:9093,9@127.0.0.1:9094\n";
    assert!(read(&format!("{GOOD}{broker}")).is_ok(), "a broker follows whoever leads");
}

#[test]
fn what_has_no_default_must_be_set() {
    for name in ["node.id", "process.roles", "controller.quorum.voters"] {
        let text: String =
            GOOD.lines().filter(|line| !line.starts_with(name)).map(|l| format!("{l}\n")).collect();
        let error = read(&text).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{name} is not set: ")), "{error}");
    }
}

#[test]
fn a_broken_escape_names_its_line() {
    let error = with("broker.rack=\\u12").unwrap_err();
    assert!(matches!(error, ConfigError::Line { line: 8, .. }), "{error}");
}

#[test]
fn topics_settings_override_the_brokers_defaults() {
    let set = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let broker = TopicConfig::default().overridden(&set(&[("log.flush.interval.messages", "5")]));
    assert_eq!(broker.log.flush_messages, 5);
    let topic = broker.overridden(&set(&[
        ("flush.messages", "1"),
        ("segment.bytes", "1048576"),
        ("internal.segment.bytes", "500"),
        ("max.message.bytes", "never accepted"),
    ]));
    assert_eq!((topic.log.flush_messages, topic.log.segment_bytes), (1, 500));
    assert_eq!(topic.max_message_bytes, 1_048_588);
}

#[test]
fn operators_change_topics_and_their_defaults_only() {
    let topic = Resource::Topic("t".to_owned());
    let cluster = Resource::Broker(None);
    let rules = TableRules;
    assert_eq!(rules.kind(&topic, "retention.ms"), Some(ConfigKind::Single));
    let list = ConfigKind::List { default: "delete".to_owned() };
    assert_eq!(rules.kind(&topic, "cleanup.policy"), Some(list));
    assert_eq!(rules.kind(&topic, "log.flush.interval.ms"), None);
    assert_eq!(rules.kind(&cluster, "log.flush.interval.ms"), Some(ConfigKind::Single));
    assert_eq!(rules.kind(&cluster, "node.id"), None);
    assert!(rules.check(&topic, "min.insync.replicas", "0").is_err());
    assert!(rules.check(&topic, "cleanup.policy", "delete, compact").is_ok());
    assert!(rules.check(&topic, "cleanup.policy", "burn").is_err());
}

/// One line of a table in docs/configuration.md.
fn line<C>(property: &Property<C>, node_names: &str) -> String {
    let default = property.default.map_or("none".to_owned(), |default| format!("`{default}`"));
    let effect = if property.apply.is_none() { " (accepted)" } else { "" };
    let values = match property.kind {
        Kind::Boolean => "boolean".to_owned(),
        Kind::Number(min, max) => format!("{} to {}", bound(min), bound(max)),
        Kind::Fraction(min, max) => format!("{min} to {max}"),
        Kind::Text => "text".to_owned(),
        Kind::List => "list".to_owned(),
        Kind::Choice(choices) => choices.join(", "),
        Kind::Choices(choices) => format!("any of {}", choices.join(", ")),
    };
    format!(
        "| `{}`{node_names} | {values} | {default} | {}{effect} |\n",
        property.name, property.doc
    )
}

fn bound(number: i64) -> String {
    match number {
        i64::MAX => "2^63-1".to_owned(),
        i64::MIN => "-2^63".to_owned(),
        _ => number.to_string(),
    }
}

fn documented() -> String {
    let head = "| property | values | default | meaning |\n|---|---|---|---|\n";
    let node: String = NODE_TABLE.iter().map(|property| line(property, "")).collect();
    let topics = TOPIC_TABLE.iter().map(|row| {
        let names = row.node_names.iter().map(|(name, _)| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { names } else { format!("<br>{names}") };
        line(&row.property, &names)
    });
    let topics: String = topics.collect();
    format!("## Node\n\n{head}{node}\n## Topics\n\n{head}{topics}")
}

#[test]
fn the_docs_have_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let text = std::fs::read_to_string(path).unwrap();
    let intro = text.split("## Node\n").next().unwrap();
    let wanted = format!("{intro}{}", documented());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    assert_eq!(text, wanted, "docs/configuration.md differs: run the test with UPDATE=1");
}
