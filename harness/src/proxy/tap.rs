//! Reads Produce and Fetch answers on their way to a client, for the second witness.

use bytes::{Buf, Bytes, BytesMut};
use highwater_log::batch::BatchHeader;
use highwater_wire::{
    codec::decode_answer,
    messages::{
        ApiKey, FetchRequest, FetchResponse, ProduceRequest, ProduceResponse, TopicName,
        fetch_response::PartitionData, produce_response::PartitionProduceResponse,
    },
};

use super::{
    net::Shared,
    scan::{Exchange, Head},
    stream::Stream,
    witness::{Witnessed, WitnessedPartition},
};
use crate::cluster::NodeId;

const PREFIX: usize = 4;
/// Says that an answer has no such offset.
const NONE: i64 = -1;

/// The answers of one connection.
#[derive(Debug)]
pub(super) struct Tap {
    node: NodeId,
    frame: BytesMut,
}

impl Tap {
    /// A tap on answers of `node`.
    pub(super) fn new(node: NodeId) -> Self {
        Self { node, frame: BytesMut::new() }
    }

    /// Looks at the first `count` undelivered bytes, which the client has just been sent.
    pub(super) fn delivered(
        &mut self,
        shared: &Shared,
        exchange: &Exchange,
        stream: &Stream,
        count: usize,
    ) {
        let (from, to) = (stream.delivered(), stream.delivered() + count as u64);
        let bytes = stream.head(to);
        for mark in stream.marks().take_while(|mark| mark.at < to) {
            let Some(head) = mark.head.filter(|head| api(*head).is_some()) else { continue };
            let (first, end) = (mark.at.max(from) - from, mark.end.min(to) - from);
            self.frame.extend_from_slice(&bytes[first as usize..end as usize]);
            if mark.end <= to {
                let answer = self.frame.split().freeze().slice(PREFIX..);
                self.witness(shared, exchange, head, answer);
            }
        }
    }

    fn witness(&self, shared: &Shared, exchange: &Exchange, head: Head, answer: Bytes) {
        let read = match api(head) {
            Some(ApiKey::Produce) => produce(head.version, answer),
            _ => fetch(head.version, answer),
        };
        // What the target sends is the target's: that it is no answer is for the client to tell.
        let ((code, partitions), unreadable) = match read {
            Ok(read) => (read, None),
            Err(why) => ((0, Vec::new()), Some(why.to_string())),
        };
        let line = Witnessed {
            time: shared.witness.now_ns(),
            api: head.api_key,
            client_id: exchange.client_id().unwrap_or_default(),
            correlation_id: head.correlation_id,
            code,
            unreadable,
            partitions,
        };
        if let Err(error) = shared.witness.write(self.node, &line) {
            shared.fail(format!("the witness of node {} cannot write: {error}", self.node));
        }
    }
}

/// The APIs whose answers are witnessed.
fn api(head: Head) -> Option<ApiKey> {
    [ApiKey::Produce, ApiKey::Fetch].into_iter().find(|api| *api as i16 == head.api_key)
}

type Read = Result<(i16, Vec<WitnessedPartition>), highwater_wire::codec::DecodeError>;

fn produce(version: i16, answer: Bytes) -> Read {
    let (_, body): (i32, ProduceResponse) = decode_answer::<ProduceRequest>(version, answer)?;
    let mut partitions = Vec::new();
    for topic in &body.responses {
        let name = topic_name(&topic.name, topic.topic_id);
        let each = topic.partition_responses.iter();
        partitions.extend(each.map(|partition| produced(&name, partition)));
    }
    Ok((0, partitions))
}

fn produced(topic: &str, partition: &PartitionProduceResponse) -> WitnessedPartition {
    WitnessedPartition {
        topic: topic.to_owned(),
        partition: partition.index,
        code: partition.error_code,
        offset: partition.base_offset,
        last_offset: NONE,
        high_watermark: NONE,
    }
}

fn fetch(version: i16, answer: Bytes) -> Read {
    let (_, body): (i32, FetchResponse) = decode_answer::<FetchRequest>(version, answer)?;
    let mut partitions = Vec::new();
    for topic in &body.responses {
        let name = topic_name(&topic.topic, topic.topic_id);
        partitions.extend(topic.partitions.iter().map(|partition| fetched(&name, partition)));
    }
    Ok((body.error_code, partitions))
}

fn fetched(topic: &str, partition: &PartitionData) -> WitnessedPartition {
    let (offset, last_offset) = offsets(partition.records.clone().unwrap_or_default());
    WitnessedPartition {
        topic: topic.to_owned(),
        partition: partition.partition_index,
        code: partition.error_code,
        offset,
        last_offset,
        high_watermark: partition.high_watermark,
    }
}

/// First offset of the first and last offset of the last whole batch; -1 where there is none.
fn offsets(mut records: Bytes) -> (i64, i64) {
    let (mut first, mut last) = (NONE, NONE);
    while let Ok(header) = BatchHeader::parse(&records) {
        if header.size() > records.len() {
            break;
        }
        first = if first == NONE { header.base_offset } else { first };
        last = header.last_offset();
        records.advance(header.size());
    }
    (first, last)
}

fn topic_name(name: &TopicName, id: impl ToString) -> String {
    if name.is_empty() { id.to_string() } else { name.to_string() }
}
