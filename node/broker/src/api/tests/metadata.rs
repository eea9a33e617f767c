//! Metadata in its versions.

use highwater_wire::messages::metadata_request::MetadataRequestTopic;
use highwater_wire::messages::metadata_response::{MetadataResponse, MetadataResponseTopic};
use highwater_wire::messages::{CreateTopicsRequest, MetadataRequest, TopicName};
use highwater_wire::{ErrorCode, RequestKind, StrBytes, versions};
use uuid::Uuid;

use super::image::{ALPHA, ask, bench};
use crate::testing::Bench;

fn named(names: &[&str]) -> MetadataRequest {
    let topic = |name: &&str| MetadataRequestTopic::default().with_name(Some(text(name)));
    MetadataRequest::default().with_topics(Some(names.iter().map(topic).collect()))
}

fn by_id(id: u128) -> MetadataRequestTopic {
    MetadataRequestTopic::default().with_name(None).with_topic_id(Uuid::from_u128(id))
}

fn text(text: &str) -> TopicName {
    StrBytes::from_string(text.to_owned()).into()
}

fn name_of(topic: &MetadataResponseTopic) -> &str {
    topic.name.as_ref().map_or("null", |name| name.as_str())
}

/// Name and error of each topic.
fn outcome(answer: &MetadataResponse) -> Vec<(&str, ErrorCode)> {
    let outcome = |topic| (name_of(topic), code(topic.error_code));
    answer.topics.iter().map(outcome).collect()
}

fn code(code: i16) -> ErrorCode {
    ErrorCode::from_code(code).unwrap()
}

fn is_creating(bench: &Bench, topic: &str) -> bool {
    bench.node.broker().auto_creating.contains(topic)
}

#[test]
fn every_version_tells_the_same_leaders() {
    let mut bench = bench();
    for version in 0..=versions::supported(highwater_wire::ApiKey::Metadata).max {
        let answer = ask(&mut bench, version, named(&["alpha"]));
        let partitions = &answer.topics[0].partitions;
        let leaders: Vec<(i32, i32)> =
            partitions.iter().map(|p| (p.leader_id.0, p.leader_epoch)).collect();
        let epoch = if version >= 7 { 4 } else { -1 };
        assert_eq!(leaders, [(-1, epoch), (1, epoch), (2, epoch)], "version {version}");
        assert_eq!(code(partitions[0].error_code), ErrorCode::LeaderNotAvailable);
        assert_eq!(code(partitions[1].error_code), ErrorCode::None);
        let offline: Vec<i32> = partitions[1].offline_replicas.iter().map(|id| id.0).collect();
        assert_eq!(offline, if version >= 5 { vec![3] } else { vec![] });
    }
}

#[test]
fn a_topic_that_is_asked_for_twice_is_told_once() {
    let mut bench = bench();
    let answer = ask(&mut bench, 9, named(&["beta", "no", "alpha", "beta", "no"]));
    let names: Vec<&str> = answer.topics.iter().map(name_of).collect();
    assert_eq!(names, ["beta", "no", "alpha"]);
    let twice = vec![by_id(ALPHA.0), by_id(ALPHA.0)];
    let answer = ask(&mut bench, 12, MetadataRequest::default().with_topics(Some(twice)));
    assert_eq!(answer.topics.len(), 1);
}

#[test]
fn all_topics_are_asked_for_by_null_or_in_version_0_by_nothing() {
    let mut bench = bench();
    let all = MetadataRequest::default().with_topics(None);
    assert_eq!(ask(&mut bench, 9, all).topics.len(), 2);
    assert_eq!(ask(&mut bench, 0, MetadataRequest::default()).topics.len(), 2);
    assert_eq!(ask(&mut bench, 1, MetadataRequest::default()).topics.len(), 0);
}

#[test]
fn only_live_brokers_are_listed_and_one_of_them_is_named_as_controller() {
    let answer = ask(&mut bench(), 9, MetadataRequest::default());
    let brokers: Vec<(i32, &str, i32)> =
        answer.brokers.iter().map(|b| (b.node_id.0, b.host.as_str(), b.port)).collect();
    assert_eq!(brokers, [(1, "host1", 9091), (2, "host2", 9092)]);
    assert!([1, 2].contains(&answer.controller_id.0));
    assert_eq!(answer.brokers[1].rack.as_deref(), Some("r2"));
}

#[test]
fn unknown_and_illegal_names_are_answered_apart() {
    let mut bench = bench();
    let request = named(&["ghost", "alpha", "a/b", "", ".."]).with_allow_auto_topic_creation(false);
    let answer = ask(&mut bench, 9, request);
    let wanted = [
        ("ghost", ErrorCode::UnknownTopicOrPartition),
        ("alpha", ErrorCode::None),
        ("a/b", ErrorCode::InvalidTopicException),
        ("", ErrorCode::InvalidTopicException),
        ("..", ErrorCode::InvalidTopicException),
    ];
    assert_eq!(outcome(&answer), wanted);
    assert!(!is_creating(&bench, "ghost"));
}

#[test]
fn rule_76_a_topic_is_found_by_its_id_alone() {
    let mut bench = bench();
    let asked = vec![by_id(ALPHA.0), by_id(77), MetadataRequestTopic::default()];
    let request = MetadataRequest::default().with_topics(Some(asked));
    let answer = ask(&mut bench, 12, request.clone());
    let wanted = [("alpha", ErrorCode::None), ("null", ErrorCode::UnknownTopicId)];
    assert_eq!(outcome(&answer), wanted);
    assert_eq!(answer.topics[1].topic_id, Uuid::from_u128(77));
    let refused = ask(&mut bench, 11, request);
    assert!(outcome(&refused).iter().all(|(_, error)| *error == ErrorCode::InvalidRequest));
    assert!(refused.brokers.is_empty());
}

#[test]
fn operations_are_told_only_when_asked_for() {
    let mut bench = bench();
    let plain = ask(&mut bench, 10, named(&["alpha"]));
    assert_eq!(plain.topics[0].topic_authorized_operations, i32::MIN);
    assert_eq!(plain.cluster_authorized_operations, i32::MIN);
    let asked = named(&["alpha"])
        .with_include_topic_authorized_operations(true)
        .with_include_cluster_authorized_operations(true);
    let asked = ask(&mut bench, 10, asked);
    assert_eq!(asked.topics[0].topic_authorized_operations, 3576, "what Kafka 4.3.1 answers");
    assert_eq!(asked.cluster_authorized_operations, 8096, "what Kafka 4.3.1 answers");
}

#[test]
fn an_unknown_topic_is_created_once_where_that_is_allowed() {
    let mut bench = bench();
    let answer = ask(&mut bench, 9, named(&["ghost"]));
    assert_eq!(outcome(&answer), [("ghost", ErrorCode::UnknownTopicOrPartition)]);
    ask(&mut bench, 9, named(&["ghost"]));
    assert!(is_creating(&bench, "ghost"));
    bench.pass_ms(50);
    assert!(bench.dialed().is_none(), "the dial of the first request is still under way");

    let mut bench = super::image::bench();
    bench.request(
        super::image::CONN,
        highwater_wire::ApiKey::Metadata,
        9,
        named(&["ghost"]).into(),
    );
    let conn = bench.open_dialed();
    let request = bench.asked(conn);
    let RequestKind::CreateTopics(body) = &request.body else { panic!("{request:?}") };
    assert_eq!(body.topics[0].name.as_str(), "ghost");
    bench.answer::<CreateTopicsRequest>(conn, &request, Default::default());
    assert!(!is_creating(&bench, "ghost"));
}
