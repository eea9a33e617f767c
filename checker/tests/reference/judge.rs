//! The counts of all classes and the verdict, part 3 of the definitions.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{Event, Promise, verdict::Validity};

use super::{
    cycles,
    facts::Facts,
    groups, history, offsets, polls, real_time, records, sends,
    tally::{Promised, Tally},
    transactions,
};

/// A class: its name and how its findings are counted.
type Class = (&'static str, fn(&Facts, &Promised) -> Tally);

/// Every class of part 2 of the definitions, and those beyond, but for cycles.
pub const CLASSES: &[Class] = &[
    ("lost-write", records::lost_write),
    ("duplicate", records::duplicate),
    ("inconsistent-offsets", records::inconsistent_offsets),
    ("unseen", records::unseen),
    ("G1a", records::g1a),
    ("precommitted-read", records::precommitted_read),
    ("phantom-read", records::phantom_read),
    ("nonmonotonic-send", sends::nonmonotonic_send),
    ("int-nonmonotonic-send", sends::int_nonmonotonic_send),
    ("int-send-skip", sends::int_send_skip),
    ("nonmonotonic-poll", polls::nonmonotonic_poll),
    ("poll-skip", polls::poll_skip),
    ("int-nonmonotonic-poll", polls::int_nonmonotonic_poll),
    ("int-poll-skip", polls::int_poll_skip),
    ("reset-skip", polls::reset_skip),
    ("successor-mismatch", polls::successor_mismatch),
    ("ack-in-the-past", real_time::ack_in_the_past),
    ("send-to-the-past", real_time::send_to_the_past),
    ("read-of-the-future", real_time::read_of_the_future),
    ("reread-mismatch", transactions::reread_mismatch),
    ("torn-transaction", transactions::torn_transaction),
    ("stale-commit", groups::stale_commit),
    ("group-skip", groups::group_skip),
    ("offset-regression", offsets::offset_regression),
    ("latest-regression", offsets::latest_regression),
    ("key-on-two-partitions", groups::key_on_two_partitions),
];

/// Counts by class; a class without findings is left out.
pub type Counts = BTreeMap<String, u64>;

/// What the reference says of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Violations.
    pub anomalies: Counts,
    /// What the promises permit.
    pub permitted: Counts,
    /// The verdict, and what else the definitions accept for it.
    pub verdicts: Vec<Validity>,
}

impl Judged {
    /// An unfit history is unknown, whatever else it shows.
    pub fn unfit() -> Self {
        let verdicts = vec![Validity::Unknown];
        Self { anomalies: Counts::new(), permitted: Counts::new(), verdicts }
    }
}

/// Judges a bare history.
pub fn judge(events: &[Event], promise: &Promise) -> Judged {
    let mut judged = Judged::unfit();
    let Some(operations) = history::operations(events) else { return judged };
    let facts = Facts::of(operations);
    if sent_twice(&facts) {
        return judged;
    }
    let promised = Promised::of(promise);
    let tallies = CLASSES.iter().map(|(class, count)| (*class, count(&facts, &promised)));
    for (class, tally) in tallies.chain(cycles::all(&facts, &promised)) {
        for (counts, n) in
            [(&mut judged.anomalies, tally.anomalies), (&mut judged.permitted, tally.permitted)]
        {
            if n > 0 {
                counts.insert(class.to_owned(), n);
            }
        }
    }
    judged.verdicts = verdicts(&facts, &judged.anomalies);
    judged
}

/// Whether one record is sent twice.
fn sent_twice(facts: &Facts) -> bool {
    let mut seen = BTreeSet::new();
    facts.all_sends().any(|(_, send)| !seen.insert((send.key.clone(), send.value)))
}

/// The verdict of a fit history.
fn verdicts(facts: &Facts, anomalies: &Counts) -> Vec<Validity> {
    let acknowledged = facts.all_sends().any(|(op, _)| op.is_ok());
    let ok_read = facts.all_reads().any(|(op, _)| op.is_ok());
    let unseen = anomalies.contains_key("unseen");
    if anomalies.keys().any(|class| class != "unseen") {
        vec![Validity::Invalid]
    } else if !acknowledged || !ok_read {
        let accepted = unseen.then_some(Validity::Invalid);
        [Validity::Vacuous, Validity::Unknown].into_iter().chain(accepted).collect()
    } else if unseen {
        vec![Validity::Invalid]
    } else {
        vec![Validity::Valid]
    }
}
