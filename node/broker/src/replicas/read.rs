//! The way of records out of the log: several partitions read under one limit.

use bytes::Bytes;
use highwater_log::{Command, Done, StoreError};
use highwater_node_core::types::{Offset, PartitionId};

use super::outputs::completed;
use crate::gather::Gather;
use crate::node::Node;

/// One partition of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadPart {
    /// The partition.
    pub(crate) partition: PartitionId,
    /// The first offset wanted.
    pub(crate) from: Offset,
    /// No batch that begins here or later.
    pub(crate) upto: Offset,
    /// Bytes in between, as far as known.
    pub(crate) available_bytes: u64,
    /// The most bytes wanted.
    pub(crate) max_bytes: usize,
}

/// Reads all parts; `then` gets each one's batches, `None` where reading failed.
///
/// The parts share `max_bytes` in their order; the first batch of all is given whole though it is
/// larger (KIP-74).
pub(crate) fn read(
    node: &mut Node,
    parts: &[ReadPart],
    max_bytes: usize,
    then: impl FnOnce(&mut Node, Vec<Option<Bytes>>) + Send + 'static,
) {
    let wanted = share(parts, max_bytes);
    let places: Vec<usize> = wanted.iter().map(|(at, _)| *at).collect();
    let mut records = vec![Some(Bytes::new()); parts.len()];
    let gather = Gather::begin(node, wanted.len(), move |node, read: Vec<Option<Bytes>>| {
        for (place, batches) in places.into_iter().zip(read) {
            records[place] = batches;
        }
        then(node, records);
    });
    for (nth, (at, limit)) in wanted.into_iter().enumerate() {
        let gather = gather.clone();
        read_part(node, parts[at], limit, nth == 0, move |node, batches| {
            gather.give(node, nth, batches);
        });
    }
}

/// Which parts are read, by position, and how many bytes each may have.
fn share(parts: &[ReadPart], max_bytes: usize) -> Vec<(usize, usize)> {
    let mut left = max_bytes;
    let mut wanted = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let first = wanted.is_empty();
        if part.from >= part.upto || (left == 0 && !first) {
            continue;
        }
        let limit = part.max_bytes.min(left);
        left -= limit.min(usize::try_from(part.available_bytes).unwrap_or(usize::MAX));
        wanted.push((at, limit));
    }
    wanted
}

fn read_part(
    node: &mut Node,
    part: ReadPart,
    max_bytes: usize,
    at_least_one: bool,
    then: impl FnOnce(&mut Node, Option<Bytes>) + Send + 'static,
) {
    let id = part.partition;
    let Some(hosted) = node.broker().replicas.hosted.get(id) else { return then(node, None) };
    let log = hosted.log;
    let (from, upto) = (part.from.0, part.upto.0);
    let command = Command::Read { log, from, upto, max_bytes, at_least_one };
    node.kernel.disk(command, move |node, done| {
        let batches = match done {
            Ok(Done::Records { batches }) => Some(batches),
            // the log was cut or removed between the decision and the read: the reader asks again
            Err(StoreError::OutOfRange { .. } | StoreError::Unknown(_)) => None,
            done => {
                completed(node, id, log, done);
                None
            }
        };
        then(node, batches);
    });
}

#[cfg(test)]
mod tests {
    use highwater_node_core::types::TopicId;

    use super::*;

    fn part(from: i64, upto: i64, available_bytes: u64, max_bytes: usize) -> ReadPart {
        let partition = PartitionId { topic: TopicId(1), index: 0 };
        let (from, upto) = (Offset(from), Offset(upto));
        ReadPart { partition, from, upto, available_bytes, max_bytes }
    }

    #[test]
    fn parts_share_the_limit_in_their_order() {
        let parts = [part(0, 9, 60, 80), part(0, 9, 60, 80), part(0, 9, 60, 80)];
        assert_eq!(share(&parts, 100), [(0, 80), (1, 40)]);
        assert_eq!(share(&parts, 1000), [(0, 80), (1, 80), (2, 80)]);
    }

    #[test]
    fn what_has_nothing_to_read_takes_nothing() {
        let parts = [part(5, 5, 0, 80), part(0, 9, 60, 80)];
        assert_eq!(share(&parts, 70), [(1, 70)]);
    }

    #[test]
    fn the_first_part_is_read_whatever_the_limit() {
        assert_eq!(share(&[part(0, 9, 60, 80)], 0), [(0, 0)]);
    }
}
