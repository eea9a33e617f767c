//! DescribeCluster, DescribeTopicPartitions, DescribeProducers, FindCoordinator.

use highwater_wire::messages::describe_producers_request;
use highwater_wire::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use highwater_wire::messages::{
    DescribeClusterRequest, DescribeProducersRequest, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, FindCoordinatorRequest,
};
use highwater_wire::{ErrorCode, StrBytes};

use super::image::{ask, bench};
use crate::testing::Bench;

fn request(names: &[&str], limit: i32) -> DescribeTopicPartitionsRequest {
    let name = |name: &&str| StrBytes::from_string((*name).to_owned());
    let topic = |text: &&str| TopicRequest::default().with_name(name(text).into());
    DescribeTopicPartitionsRequest::default()
        .with_topics(names.iter().map(topic).collect())
        .with_response_partition_limit(limit)
}

/// All pages, as topic and partition; `!` marks a topic with an error.
fn pages(bench: &mut Bench, request: &DescribeTopicPartitionsRequest) -> Vec<String> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let answer = ask(bench, 0, request.clone().with_cursor(cursor));
        pages.push(page(&answer));
        let Some(next) = answer.next_cursor else { return pages };
        cursor = Some(
            Cursor::default()
                .with_topic_name(next.topic_name)
                .with_partition_index(next.partition_index),
        );
    }
}

fn page(answer: &DescribeTopicPartitionsResponse) -> String {
    let topics = answer.topics.iter().map(|topic| {
        let name = topic.name.as_ref().unwrap().as_str();
        let mark = if topic.error_code == 0 { "" } else { "!" };
        let partitions = topic.partitions.iter().map(|p| p.partition_index.to_string());
        format!("{name}{mark}{}", partitions.collect::<String>())
    });
    topics.collect::<Vec<_>>().join(" ")
}

#[test]
fn topics_come_in_order_of_name_and_pages_continue_where_they_ended() {
    let mut bench = bench();
    assert_eq!(pages(&mut bench, &request(&["beta", "alpha"], 100)), ["alpha012 beta01"]);
    assert_eq!(
        pages(&mut bench, &request(&["beta", "alpha"], 2)),
        ["alpha01", "alpha2 beta0", "beta1"]
    );
    assert_eq!(pages(&mut bench, &request(&["beta", "alpha"], 3)), ["alpha012", "beta01"]);
    assert_eq!(pages(&mut bench, &request(&[], 4)), ["alpha012 beta0", "beta1"]);
    assert_eq!(pages(&mut bench, &request(&["beta"], 0)), ["beta0", "beta1"]);
}

#[test]
fn an_unknown_topic_is_an_error_of_that_topic_only() {
    let mut bench = bench();
    let answer = ask(&mut bench, 0, request(&["zeta", "alpha"], 100));
    assert_eq!(page(&answer), "alpha012 zeta!");
    let code = answer.topics[1].error_code;
    assert_eq!(code, ErrorCode::UnknownTopicOrPartition.code());
}

#[test]
fn a_cursor_below_zero_is_refused() {
    let cursor = Cursor::default()
        .with_topic_name(StrBytes::from_static_str("alpha").into())
        .with_partition_index(-1);
    let answer = ask(&mut bench(), 0, request(&["alpha"], 10).with_cursor(Some(cursor)));
    assert_eq!(answer.topics[0].error_code, ErrorCode::InvalidRequest.code());
}

#[test]
fn partitions_are_told_with_epochs_and_eligible_leaders() {
    let answer = ask(&mut bench(), 0, request(&["alpha"], 10));
    let partition = &answer.topics[0].partitions[1];
    assert_eq!((partition.leader_id.0, partition.leader_epoch), (1, 4));
    assert_eq!(partition.eligible_leader_replicas.as_ref().unwrap()[0].0, 2);
    assert_eq!(partition.offline_replicas[0].0, 3);
}

#[test]
fn fenced_brokers_of_the_cluster_are_listed_only_when_asked_for() {
    let mut bench = bench();
    let ids = |bench: &mut Bench, fenced| {
        let request = DescribeClusterRequest::default().with_include_fenced_brokers(fenced);
        let answer = ask(bench, 2, request);
        assert_eq!(answer.cluster_id.as_str(), "cluster");
        answer.brokers.iter().map(|b| (b.broker_id.0, b.is_fenced)).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut bench, false), [(1, false), (2, false)]);
    assert_eq!(ids(&mut bench, true), [(1, false), (2, false), (3, true)]);
}

#[test]
fn a_broker_does_not_describe_controllers() {
    let request = DescribeClusterRequest::default().with_endpoint_type(2);
    let answer = ask(&mut bench(), 1, request);
    assert_eq!(answer.error_code, ErrorCode::MismatchedEndpointType.code());
}

#[test]
fn there_is_no_coordinator_in_any_version() {
    let mut bench = bench();
    let wanted = ErrorCode::CoordinatorNotAvailable.code();
    let one = FindCoordinatorRequest::default().with_key(StrBytes::from_static_str("group"));
    assert_eq!(ask(&mut bench, 3, one).error_code, wanted);
    let several = FindCoordinatorRequest::default().with_coordinator_keys(vec![
        StrBytes::from_static_str("a"),
        StrBytes::from_static_str("b"),
    ]);
    let answer = ask(&mut bench, 4, several);
    assert!(answer.coordinators.iter().all(|c| c.error_code == wanted && c.node_id.0 == -1));
    assert_eq!(answer.coordinators.len(), 2);
}

#[test]
fn producers_of_a_partition_that_is_asked_for_twice_are_told_once() {
    let topic = describe_producers_request::TopicRequest::default()
        .with_name(StrBytes::from_static_str("alpha").into())
        .with_partition_indexes(vec![1, 0, 1]);
    let request = DescribeProducersRequest::default().with_topics(vec![topic.clone(), topic]);
    let answer = ask(&mut bench(), 0, request);
    let indexes = |at: usize| {
        answer.topics[at].partitions.iter().map(|p| p.partition_index).collect::<Vec<_>>()
    };
    assert_eq!((indexes(0), indexes(1)), (vec![1, 0], vec![]));
}
