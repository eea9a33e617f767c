//! DeleteTopics: by name, or by id from version 6 on (KIP-516).

use highwater_node_core::controller::request::TopicRef;
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::Refusal;
use highwater_node_core::types::TopicId;
use highwater_wire::messages::delete_topics_response::DeletableTopicResult;
use highwater_wire::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};
use uuid::Uuid;

use crate::controller::{answer, code_and_message};
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DeleteTopics, Forwarded, handle, refuse);

/// Deletion that is switched off has an error code of its own from here on.
const TOPIC_DELETION_DISABLED_SINCE: i16 = 3;
/// A sentence for people is told from here on.
const MESSAGE_SINCE: i16 = 5;
/// Topics are named by name or id from here on.
const TOPIC_ID_SINCE: i16 = 6;

fn handle(node: &mut Node, request: DeleteTopicsRequest, reply: ReplyToken) {
    if !node.config.delete_topic_enable {
        let code = match reply.version() {
            ..TOPIC_DELETION_DISABLED_SINCE => ErrorCode::InvalidRequest,
            _ => ErrorCode::TopicDeletionDisabled,
        };
        return node.kernel.reply(reply, refuse(&request, code));
    }
    let refused = refuse(&request, ErrorCode::NotController);
    let topics = topics(&request);
    let asked = Request::DeleteTopics(topics.clone());
    let version = reply.version();
    answer(node, reply, asked, refused, move |reply| match reply {
        Reply::DeleteTopics(results) => {
            let rows = topics.iter().zip(&results);
            let rows = rows.map(|(topic, result)| row(version, topic, result)).collect();
            DeleteTopicsResponse::default().with_responses(rows)
        }
        other => unreachable!("a deletion is not answered by {other:?}"),
    });
}

fn refuse(request: &DeleteTopicsRequest, error: ErrorCode) -> DeleteTopicsResponse {
    let row = |topic: &TopicRef| named(topic).with_error_code(error.code());
    DeleteTopicsResponse::default().with_responses(topics(request).iter().map(row).collect())
}

/// Versions before 6 fill one field, later ones the other.
fn topics(request: &DeleteTopicsRequest) -> Vec<TopicRef> {
    let by_name = request.topic_names.iter().map(|name| TopicRef::Name(name.to_string()));
    let either = request.topics.iter().map(|topic| match &topic.name {
        Some(name) => TopicRef::Name(name.to_string()),
        None => TopicRef::Id(TopicId(topic.topic_id.as_u128())),
    });
    by_name.chain(either).collect()
}

fn named(topic: &TopicRef) -> DeletableTopicResult {
    let row = DeletableTopicResult::default();
    match topic {
        TopicRef::Name(name) => row.with_name(Some(topic_name(name))),
        TopicRef::Id(id) => row.with_name(None).with_topic_id(Uuid::from_u128(id.0)),
    }
}

fn row(
    version: i16,
    topic: &TopicRef,
    result: &Result<(String, TopicId), Refusal>,
) -> DeletableTopicResult {
    let (code, message) = code_and_message(result);
    let mut row = named(topic).with_error_code(code);
    if version >= MESSAGE_SINCE {
        row.error_message = message;
    }
    if let Ok((name, id)) = result {
        row.name = Some(topic_name(name));
        if version >= TOPIC_ID_SINCE {
            row.topic_id = Uuid::from_u128(id.0);
        }
    }
    row
}

fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use highwater_wire::{ApiKey, codec};

    use super::*;
    use crate::testing::{Bench, broker_config};

    /// What a controller answers to one deletion.
    fn code(enabled: bool, version: i16) -> Option<ErrorCode> {
        let mut bench = Bench::new(crate::config::NodeConfig {
            is_broker: false,
            is_controller: true,
            controller_listeners: vec!["PLAINTEXT".to_owned()],
            delete_topic_enable: enabled,
            ..broker_config()
        });
        bench.accept(2);
        let request = DeleteTopicsRequest::default().with_topic_names(vec![topic_name("t")]);
        bench.request(2, ApiKey::DeleteTopics, version, request.into());
        let answer = bench.sent(2).pop()?;
        let (_, answer) = codec::decode_answer::<DeleteTopicsRequest>(version, answer).unwrap();
        ErrorCode::from_code(answer.responses[0].error_code)
    }

    #[test]
    fn deletion_that_is_switched_off_says_so() {
        assert_eq!(code(false, 2), Some(ErrorCode::InvalidRequest));
        assert_eq!(code(false, 3), Some(ErrorCode::TopicDeletionDisabled));
        assert_ne!(code(true, 3), Some(ErrorCode::TopicDeletionDisabled));
    }
}
