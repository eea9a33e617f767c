//! DeleteTopics: by name, or by id from version 6 on (KIP-516).

use highwater_node_core::controller::request::TopicRef;
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::{ErrorCode as CoreError, Refusal};
use highwater_node_core::types::TopicId;
use highwater_wire::messages::delete_topics_response::DeletableTopicResult;
use highwater_wire::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};
use uuid::Uuid;

use crate::controller::{answer, code_and_message};
use crate::node::Node;
use crate::once::firsts;
use crate::reply::ReplyToken;

entry!(DeleteTopics, Forwarded, handle, refuse);

/// Deletion that is switched off has an error code of its own from here on.
const TOPIC_DELETION_DISABLED_SINCE: i16 = 3;
/// The name and identity of a topic that is gone.
type Deleted = Result<(String, TopicId), Refusal>;

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
    let entries = entries(&request);
    let topics = entries.iter().filter_map(|entry| entry.topic().ok()).collect();
    let version = reply.version();
    answer(node, reply, Request::DeleteTopics(topics), refused, move |reply| match reply {
        Reply::DeleteTopics(results) => response(version, &entries, results),
        other => unreachable!("a deletion is not answered by {other:?}"),
    });
}

fn refuse(request: &DeleteTopicsRequest, error: ErrorCode) -> DeleteTopicsResponse {
    let row = |entry: &Entry| entry.row().with_error_code(error.code());
    DeleteTopicsResponse::default().with_responses(entries(request).iter().map(row).collect())
}

/// What a request says of one topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: Option<String>,
    id: TopicId,
}

impl Entry {
    /// A topic is named by name or by id, never both (rule 76).
    fn topic(&self) -> Result<TopicRef, Refusal> {
        let refuse = |text: &str| Err(Refusal::new(CoreError::InvalidRequest, text));
        match (&self.name, self.id == TopicId::default()) {
            (Some(name), true) => Ok(TopicRef::Name(name.clone())),
            (None, false) => Ok(TopicRef::Id(self.id)),
            (Some(_), false) => refuse("a topic is named by name or by id, not both"),
            (None, true) => refuse("a topic is named by name or by id"),
        }
    }

    fn row(&self) -> DeletableTopicResult {
        DeletableTopicResult::default()
            .with_name(self.name.as_deref().map(topic_name))
            .with_topic_id(Uuid::from_u128(self.id.0))
    }
}

/// Versions before 6 fill one field, later ones the other.
fn entries(request: &DeleteTopicsRequest) -> Vec<Entry> {
    let by_name = request.topic_names.iter();
    let by_name =
        by_name.map(|name| Entry { name: Some(name.to_string()), id: TopicId::default() });
    let either = request.topics.iter().map(|topic| Entry {
        name: topic.name.as_ref().map(|name| name.to_string()),
        id: TopicId(topic.topic_id.as_u128()),
    });
    by_name.chain(either).collect()
}

/// One row for each entry, but one for all that are the same; the results are of those that name
/// a topic.
fn response(version: i16, entries: &[Entry], results: Vec<Deleted>) -> DeleteTopicsResponse {
    let mut results = results.into_iter();
    let mut rows = Vec::new();
    for entry in entries {
        let result = match entry.topic() {
            Ok(_) => results.next().expect("each topic has a result"),
            Err(refusal) => Err(refusal),
        };
        rows.push((entry, result));
    }
    let once = firsts(rows.iter(), |(entry, _)| *entry);
    let rows = once.map(|(entry, result)| row(version, entry, result)).collect();
    DeleteTopicsResponse::default().with_responses(rows)
}

fn row(version: i16, entry: &Entry, result: &Deleted) -> DeletableTopicResult {
    let (code, message) = code_and_message(result);
    let mut row = entry.row().with_error_code(code);
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

    /// What a controller answers.
    fn ask(enabled: bool, version: i16, request: DeleteTopicsRequest) -> DeleteTopicsResponse {
        let mut bench = Bench::new(crate::config::NodeConfig {
            is_broker: false,
            is_controller: true,
            controller_listeners: vec!["PLAINTEXT".to_owned()],
            delete_topic_enable: enabled,
            ..broker_config()
        });
        bench.accept(2);
        bench.request(2, ApiKey::DeleteTopics, version, request.into());
        let answer = bench.sent(2).pop().unwrap();
        codec::decode_answer::<DeleteTopicsRequest>(version, answer).unwrap().1
    }

    fn code(enabled: bool, version: i16) -> Option<ErrorCode> {
        let request = DeleteTopicsRequest::default().with_topic_names(vec![topic_name("t")]);
        ErrorCode::from_code(ask(enabled, version, request).responses[0].error_code)
    }

    #[test]
    fn deletion_that_is_switched_off_says_so() {
        assert_eq!(code(false, 2), Some(ErrorCode::InvalidRequest));
        assert_eq!(code(false, 3), Some(ErrorCode::TopicDeletionDisabled));
        assert_ne!(code(true, 3), Some(ErrorCode::TopicDeletionDisabled));
    }

    #[test]
    fn rule_76_a_topic_is_named_by_name_or_by_id() {
        let entry =
            |name: Option<&str>, id: u128| Entry { name: name.map(str::to_owned), id: TopicId(id) };
        let entries = [entry(Some("t"), 7), entry(None, 0), entry(Some("t"), 0), entry(None, 7)];
        let deleted = |name: &str| Ok((name.to_owned(), TopicId(9)));
        let answer = response(6, &entries, vec![deleted("t"), deleted("u")]);
        let shown = answer.responses.iter().map(|row| {
            let name = row.name.as_ref().map(|name| name.as_str());
            (row.error_code, name, row.topic_id.as_u128())
        });
        let refused = ErrorCode::InvalidRequest.code();
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [(refused, Some("t"), 7), (refused, None, 0), (0, Some("t"), 9), (0, Some("u"), 9)]
        );
    }

    #[test]
    fn what_is_named_twice_is_answered_once() {
        let name = Entry { name: Some("t".to_owned()), id: TopicId::default() };
        let twice = || Err(Refusal::new(CoreError::InvalidRequest, "twice"));
        let answer = response(6, &[name.clone(), name], vec![twice(), twice()]);
        assert_eq!(answer.responses.len(), 1);
    }
}
