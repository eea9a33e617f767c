//! The records in a Fetch answer.

use highwater_history::event::{EpochRun, PayloadError, PayloadFault, ReadRecord};
use highwater_log::batch::{Batch, Batches};
use highwater_wire::messages::fetch_response::PartitionData;

use crate::{
    op::KeyRead,
    value::{self, Strange},
};

/// Batches are ours, so they are small; a larger one is damaged.
const DECOMPRESSED_LIMIT: usize = 16 * 1024 * 1024;

/// The records of a key from `from` on, and the offset to go on from; `run` and `key` are what
/// their payloads must name.
pub fn read((run, key): (&str, &str), from: i64, partition: &PartitionData) -> (KeyRead, i64) {
    let mut read = KeyRead::default();
    let mut next = from;
    let bytes = partition.records.clone().unwrap_or_default();
    // A broker may cut the last batch short; it comes again.
    for batch in Batches::new(bytes).map_while(Result::ok) {
        let header = *batch.header();
        if header.next_offset() <= from {
            continue;
        }
        next = header.next_offset();
        if header.is_control() {
            continue;
        }
        if read.epochs.last().is_none_or(|run| run.1 != header.leader_epoch) {
            read.epochs.push(EpochRun(header.base_offset.max(from), header.leader_epoch));
        }
        if take_records((run, key), from, &batch, &mut read).is_none() {
            let fault = PayloadFault::Corrupt;
            let strange = payload_error(key, header.base_offset.max(from), fault);
            read.payload_errors
                .push(PayloadError { detail: Some("the batch is damaged".into()), ..strange });
        }
    }
    (read, next)
}

/// Takes the records of a batch from `from` on; `None` when the batch is damaged.
fn take_records(
    (run, key): (&str, &str),
    from: i64,
    batch: &Batch,
    read: &mut KeyRead,
) -> Option<()> {
    batch.check_crc().ok()?;
    for record in batch.records(DECOMPRESSED_LIMIT).ok()? {
        let record = record.ok()?;
        if record.offset < from {
            continue;
        }
        match value::decode(run, key, record.value.as_deref().unwrap_or_default()) {
            Ok(value) => read.records.push(ReadRecord(Some(record.offset), value)),
            Err(strange) => read.payload_errors.push(explain(key, record.offset, strange)),
        }
    }
    Some(())
}

fn explain(key: &str, offset: i64, strange: Strange) -> PayloadError {
    match strange {
        Strange::Corrupt => payload_error(key, offset, PayloadFault::Corrupt),
        Strange::Misplaced { key: found, value } => PayloadError {
            value: Some(value),
            found_key: Some(found.into()),
            ..payload_error(key, offset, PayloadFault::Misplaced)
        },
        Strange::Foreign { run } => PayloadError {
            detail: Some(format!("written by run {run}")),
            ..payload_error(key, offset, PayloadFault::Misplaced)
        },
    }
}

fn payload_error(key: &str, offset: i64, fault: PayloadFault) -> PayloadError {
    PayloadError { key: key.into(), offset, fault, value: None, found_key: None, detail: None }
}
