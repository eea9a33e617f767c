//! One offset of a partition holds one value, for everybody and for ever.

use super::{Decides, Entry, Judge, Need};
use crate::{conflict::conflicts, finding::Findings, view::KeyView};

/// Counts offsets at which acknowledgements, polls and the final log know two or more values.
pub static ENTRY: Entry = Entry {
    rules: &[1, 2, 3, 36, 38, 59],
    clauses: &[],
    evidence: &["D2"],
    anomalies: &["inconsistent-offsets"],
    needs: &[Need::Dumps, Need::Elections],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    for conflict in conflicts(view) {
        findings.rule("inconsistent-offsets", conflict.ruling(view), || {
            let read = conflict.holders.iter().filter(|id| records.is_read(**id)).count();
            let rule = if read > 1 { 2 } else { 38 };
            let values = conflict.values(view);
            let why = format!("values {values:?} are all known at this offset; {read} were read");
            let senders = conflict.holders.iter().filter_map(|id| view.sender(*id));
            let events = senders.flat_map(|sender| sender.events()).collect();
            let mut finding = view.finding_at(Some(conflict.offset), rule, "D2", events, why);
            finding.value = values.first().copied();
            finding
        });
    }
}
