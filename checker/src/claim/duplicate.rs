//! A record stands at one offset of its partition, however often its batch was sent.

use std::collections::BTreeMap;

use highwater_history::Offset;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::{
        operations::{Operation, Requests},
        order::Known,
        records::RecordId,
    },
    view::KeyView,
};

/// Counts records that acknowledgements and polls place at two offsets, or that the final log
/// holds twice.
pub static ENTRY: Entry = Entry {
    rules: &[41, 42, 45, 47],
    evidence: &["D5"],
    anomalies: &["duplicate"],
    needs: &[Need::Dumps],
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let again: BTreeMap<RecordId, Offset> =
        view.log.iter().flat_map(|log| log.again.iter().copied()).collect();
    for record in view.key.records.ids() {
        let second = again.get(&record).copied();
        if view.key.order.place(record) != Known::Many && second.is_none() {
            continue;
        }
        findings.rule("duplicate", ruling(view, record, second), || {
            let mut offsets = view.key.order.offsets_of(record);
            offsets.extend(second);
            offsets.sort_unstable();
            offsets.dedup();
            let why = format!("the record stands at offsets {offsets:?}");
            view.finding(record, offsets.first().copied(), 42, "D5", why)
        });
    }
}

fn ruling(view: &KeyView<'_>, record: RecordId, second: Option<Offset>) -> Ruling {
    let Some(sender) = view.sender(record) else { return Ruling::Forbidden };
    if !view.idempotence(sender) {
        return repeated(view, sender);
    }
    match other_identity(view, record, second) {
        Some(why) => Ruling::Permitted(Permission::new("c.6", why)),
        None => Ruling::Forbidden,
    }
}

/// Without idempotence a repeat is a second record; a broker may still not make one by itself.
fn repeated(view: &KeyView<'_>, sender: &Operation) -> Ruling {
    let clause = "c.2 enable.idempotence=false";
    match sender.requests {
        _ if view.run.said.idempotence == Some(false) => {
            Ruling::Permitted(Permission::new(clause, "the promise that the user named"))
        }
        Requests::One => Ruling::Forbidden,
        Requests::Many | Requests::Untold => {
            let fulfilled_by = format!("the client repeated operation {}", sender.invoked);
            Ruling::Permitted(Permission::new(clause, fulfilled_by))
        }
    }
}

/// With idempotence, a copy under another identity is the client's doing.
fn other_identity(view: &KeyView<'_>, record: RecordId, second: Option<Offset>) -> Option<String> {
    let log = view.log.as_ref()?;
    let batches = [log.place_of(record)?, second?].map(|offset| log.batch_at(offset));
    let [first, second] = [batches[0]?, batches[1]?];
    let identity = |batch: &highwater_history::dumps::DumpBatch| {
        (batch.producer_id, batch.producer_epoch, batch.sequence)
    };
    (identity(first) != identity(second)).then(|| {
        format!("the copies have identities {:?} and {:?}", identity(first), identity(second))
    })
}
