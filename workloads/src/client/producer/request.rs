//! The requests of a producer, and what their answers say.

use bytes::Bytes;
use highwater_wire::{
    RequestKind, ResponseKind, StrBytes,
    messages::{
        InitProducerIdRequest, ProduceRequest, TopicName,
        produce_request::{PartitionProduceData, TopicProduceData},
    },
};

use crate::{Acks, Catalog, Key, outcome};

pub(super) const PRODUCE_VERSION: i16 = 11;
pub(super) const INIT_VERSION: i16 = 4;

/// One batch for one key.
pub(super) fn produce(
    catalog: &Catalog,
    key: Key,
    batch: Bytes,
    acks: Acks,
    timeout_ms: u64,
) -> RequestKind {
    let name = TopicName(StrBytes::from_string(catalog.topic(key).name.clone()));
    let partition = PartitionProduceData::default()
        .with_index(catalog.partition(key))
        .with_records(Some(batch));
    let topic = TopicProduceData::default().with_name(name).with_partition_data(vec![partition]);
    let request = ProduceRequest::default()
        .with_transactional_id(None)
        .with_acks(outcome::acks_number(acks))
        .with_timeout_ms(i32::try_from(timeout_ms).unwrap_or(i32::MAX))
        .with_topic_data(vec![topic]);
    RequestKind::Produce(request)
}

/// Asks for a producer id of its own.
pub(super) fn init_producer_id() -> RequestKind {
    // Without a transactional id the time-out has no meaning; Kafka's clients send the maximum.
    let request = InitProducerIdRequest::default()
        .with_transactional_id(None)
        .with_transaction_timeout_ms(i32::MAX);
    RequestKind::InitProducerId(request)
}

/// Error code and base offset of the one partition asked; `None` when the answer has no such thing.
pub(super) fn produced(answer: &ResponseKind) -> Option<(i16, Option<i64>)> {
    let ResponseKind::Produce(answer) = answer else { return None };
    let partition = answer.responses.first()?.partition_responses.first()?;
    let base_offset = (partition.base_offset >= 0).then_some(partition.base_offset);
    Some((partition.error_code, base_offset))
}

/// Producer id and epoch, when the answer gives them.
pub(super) fn identity(answer: &ResponseKind) -> Option<(i64, i16)> {
    let ResponseKind::InitProducerId(answer) = answer else { return None };
    (answer.error_code == 0).then_some((answer.producer_id.0, answer.producer_epoch))
}
