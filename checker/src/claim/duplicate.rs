//! A record stands at one offset of its partition, however often its batch was sent.

use std::collections::BTreeMap;

use highwater_history::{Offset, dumps::DumpBatch};

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
    clauses: &[],
    evidence: &["D5"],
    anomalies: &["duplicate"],
    needs: &[Need::Dumps],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

/// Those that stand at two offsets or more beside 0: clients that were told no offset have been
/// seen to report 0, which is no second place.
const ABOVE_ZERO: &str = "duplicates-at-non-zero-offsets";
const NOT_IDEMPOTENT: &str = "c.2 enable.idempotence=false";

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let again: BTreeMap<RecordId, Offset> =
        view.log.iter().flat_map(|log| log.again.iter().copied()).collect();
    for record in view.key.records.ids() {
        let second = again.get(&record).copied();
        if view.key.order.place(record) != Known::Many && second.is_none() {
            continue;
        }
        let mut offsets = view.key.order.offsets_of(record);
        offsets.extend(second);
        offsets.sort_unstable();
        offsets.dedup();
        if offsets.iter().filter(|offset| **offset > 0).count() > 1 {
            findings.count(ABOVE_ZERO, 1);
        }
        findings.rule("duplicate", ruling(view, record, second), || {
            let why = format!("the record stands at offsets {offsets:?}");
            view.finding(record, offsets.first().copied(), 42, "D5", why)
        });
    }
}

fn ruling(view: &KeyView<'_>, record: RecordId, second: Option<Offset>) -> Ruling {
    if view.run.said.idempotence == Some(false) {
        let said = "the promise that the user named";
        return Ruling::Permitted(Permission::new(NOT_IDEMPOTENT, said));
    }
    let Some(sender) = view.sender(record) else { return Ruling::Forbidden };
    let by_client = match view.idempotence(sender) {
        false => repeated(sender),
        true => match other_identity(view, record, second) {
            Some(why) => Ruling::Permitted(Permission::new("c.6", why)),
            None => Ruling::Forbidden,
        },
    };
    by_client.or_else(|| match second {
        Some(_) => Ruling::Forbidden,
        None => cut_copies(view, record, sender),
    })
}

/// c.1.1: all copies but one may be gone, and were never in one log with it.
fn cut_copies(view: &KeyView<'_>, record: RecordId, sender: &Operation) -> Ruling {
    let places = view.key.order.offsets_of(record);
    let held = view.log.as_ref().and_then(|log| log.place_of(record));
    // Without a log the lowest stays: nothing that cuts it leaves a higher one.
    let stays = held.filter(|held| places.contains(held)).or_else(|| places.first().copied());
    let others = places.iter().filter(|place| Some(**place) != stays);
    let after = view.since(sender.invoked_at)..view.elections.len();
    let rulings = others.map(|place| view.unclean_loss(Some(*place), after.clone()));
    rulings.reduce(Ruling::and).unwrap_or(Ruling::Forbidden)
}

/// Without idempotence a repeat is a second record; a broker may still not make one by itself.
fn repeated(sender: &Operation) -> Ruling {
    match sender.requests {
        Requests::One => Ruling::Forbidden,
        Requests::Many | Requests::Untold => {
            let fulfilled_by = format!("the client repeated operation {}", sender.invoked);
            Ruling::Permitted(Permission::new(NOT_IDEMPOTENT, fulfilled_by))
        }
    }
}

/// With idempotence, a copy under another identity is the client's doing.
fn other_identity(view: &KeyView<'_>, record: RecordId, second: Option<Offset>) -> Option<String> {
    let log = view.log.as_ref()?;
    let batches = [log.place_of(record)?, second?].map(|offset| log.batch_at(offset));
    let [first, second] = [batches[0]?, batches[1]?];
    let identity = |batch: &DumpBatch| (batch.producer_id, batch.producer_epoch, batch.sequence);
    (first.id() != second.id()).then(|| {
        format!("the copies have identities {:?} and {:?}", identity(first), identity(second))
    })
}
