//! DescribeConfigs: values in force, their places, and what is refused.

use highwater_node_core::metadata::record::{ConfigRecord, Resource};
use highwater_node_core::metadata::{Delta, Record};
use highwater_node_core::types::{BrokerId, Offset};
use highwater_wire::messages::DescribeConfigsRequest;
use highwater_wire::messages::describe_configs_request::DescribeConfigsResource;
use highwater_wire::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult,
};
use highwater_wire::{ErrorCode, StrBytes};

use super::image::{ask, bench};
use crate::testing::{Bench, broker_config};

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn describe(bench: &mut Bench, kind: i8, name: &str, keys: &[&str]) -> DescribeConfigsResult {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configuration_keys(Some(keys.iter().map(|key| text(key)).collect()));
    let request = DescribeConfigsRequest::default()
        .with_resources(vec![resource])
        .with_include_synonyms(true)
        .with_include_documentation(true);
    ask(bench, 4, request).results.remove(0)
}

fn set(bench: &mut Bench, resource: Resource, name: &str, value: &str) {
    let (name, value) = (name.to_owned(), Some(value.to_owned()));
    let record = Record::Config(ConfigRecord { resource, name, value });
    let replay = &mut bench.node.broker_mut().replay;
    let end: Offset = replay.image().end;
    replay.apply(end, record, &mut Delta::default()).unwrap();
}

/// `value@source: name=value@source ...` of the one row.
fn shown(result: &DescribeConfigsResult) -> String {
    let [row] = &result.configs[..] else { panic!("one row, not {:?}", result.configs) };
    let value = |row: &DescribeConfigsResourceResult| row.value.clone().map(|v| v.to_string());
    let synonyms = row.synonyms.iter().map(|s| {
        let value = s.value.as_ref().map_or("null", |v| v.as_str());
        format!(" {}={}@{}", s.name.as_str(), value, s.source)
    });
    let value = value(row).unwrap_or("null".into());
    format!("{value}@{}:{}", row.config_source, synonyms.collect::<String>())
}

#[test]
fn the_narrowest_place_that_has_a_value_wins() {
    let mut config = broker_config();
    config.given.insert("message.max.bytes".into(), "3000".into());
    let mut bench = bench();
    bench.node.config = config.into();
    let key = &["max.message.bytes"][..];
    let file = " message.max.bytes=3000@4 message.max.bytes=1048588@5";
    assert_eq!(shown(&describe(&mut bench, 2, "alpha", key)), format!("3000@4:{file}"));
    set(&mut bench, Resource::Broker(None), "message.max.bytes", "4000");
    let cluster = format!(" message.max.bytes=4000@3{file}");
    assert_eq!(shown(&describe(&mut bench, 2, "alpha", key)), format!("4000@3:{cluster}"));
    set(&mut bench, Resource::Broker(Some(BrokerId(1))), "message.max.bytes", "5000");
    let broker = format!(" message.max.bytes=5000@2{cluster}");
    assert_eq!(shown(&describe(&mut bench, 2, "alpha", key)), format!("5000@2:{broker}"));
    set(&mut bench, Resource::Topic("alpha".into()), "max.message.bytes", "6000");
    let topic = format!(" max.message.bytes=6000@1{broker}");
    assert_eq!(shown(&describe(&mut bench, 2, "alpha", key)), format!("6000@1:{topic}"));
    assert_eq!(shown(&describe(&mut bench, 2, "beta", key)), format!("5000@2:{broker}"));
    let own = describe(&mut bench, 4, "1", &["message.max.bytes"]);
    assert_eq!(shown(&own), format!("5000@2:{broker}"));
    let all = describe(&mut bench, 4, "", &[]);
    assert_eq!(shown(&all), "4000@3: message.max.bytes=4000@3");
}

#[test]
fn a_topic_shows_every_property_that_kafka_shows_or_says_why() {
    let result = describe(&mut bench(), 2, "alpha", &[]);
    let names: Vec<&str> = result.configs.iter().map(|row| row.name.as_str()).collect();
    for name in ["cleanup.policy", "min.insync.replicas", "retention.ms", "segment.bytes"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!names.contains(&"internal.segment.bytes"), "nobody is shown what is for tests");
    let retention = result.configs.iter().find(|row| row.name.as_str() == "retention.ms").unwrap();
    assert_eq!(retention.value.as_deref(), Some("604800000"));
    assert_eq!((retention.config_source, retention.config_type), (5, 5));
    assert!(retention.documentation.is_some() && !retention.read_only);
}

#[test]
fn a_node_shows_its_file_read_only_also_what_has_no_effect() {
    let mut config = broker_config();
    config.given.insert("node.id".into(), "1".into());
    config.given.insert("num.network.threads".into(), "2".into());
    let mut bench = bench();
    bench.node.config = config.into();
    let id = describe(&mut bench, 4, "1", &["node.id"]);
    assert_eq!(shown(&id), "1@4: node.id=1@4");
    assert!(id.configs[0].read_only);
    assert_eq!(
        shown(&describe(&mut bench, 4, "1", &["num.network.threads"])).as_str(),
        "2@4: num.network.threads=2@4"
    );
    let unset = describe(&mut bench, 4, "1", &["advertised.listeners"]);
    assert_eq!(shown(&unset), "null@5:");
}

#[test]
fn what_is_not_there_is_refused_by_its_own_code() {
    let mut bench = bench();
    for (kind, name, wanted) in [
        (2, "ghost", ErrorCode::UnknownTopicOrPartition),
        (2, "a/b", ErrorCode::InvalidTopicException),
        (4, "2", ErrorCode::InvalidRequest),
        (4, "x", ErrorCode::InvalidRequest),
        (77, "x", ErrorCode::InvalidRequest),
    ] {
        let result = describe(&mut bench, kind, name, &[]);
        assert_eq!(result.error_code, wanted.code(), "{kind} {name}");
        assert!(result.configs.is_empty());
    }
    assert!(describe(&mut bench, 2, "alpha", &["no.such.key"]).configs.is_empty());
}

#[test]
fn every_version_can_be_answered() {
    let mut bench = bench();
    for version in 1..=4 {
        let resource = DescribeConfigsResource::default()
            .with_resource_type(2)
            .with_resource_name(text("alpha"))
            .with_configuration_keys(None);
        let request = DescribeConfigsRequest::default()
            .with_resources(vec![resource])
            .with_include_synonyms(true);
        assert!(!ask(&mut bench, version, request).results[0].configs.is_empty(), "{version}");
    }
}

#[test]
fn a_resource_that_is_asked_for_twice_is_described_once() {
    let topic = DescribeConfigsResource::default().with_resource_type(2);
    let topic = topic.with_resource_name(text("alpha")).with_configuration_keys(None);
    let other = topic.clone().with_configuration_keys(Some(vec![text("flush.ms")]));
    let resources = vec![topic.clone(), topic, other.clone(), other];
    let answer = ask(&mut bench(), 4, DescribeConfigsRequest::default().with_resources(resources));
    let rows: Vec<usize> = answer.results.iter().map(|result| result.configs.len()).collect();
    assert_eq!((rows.len(), rows[1]), (2, 1));
}
