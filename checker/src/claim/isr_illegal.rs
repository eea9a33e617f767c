//! The ISR is what it promises: assigned, in service, led from within, and in possession of it all.

use highwater_history::verdict::Finding;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::Findings,
    insync::{
        lag::{dropped_in_time, kept_behind},
        legal::newly_illegal,
        strong::{Committed, short_of},
    },
    view::KeyView,
};

/// Counts changes in the metadata log that no controller may make, members that lack what was
/// committed, and members that stayed or went against the lag limit.
pub static ENTRY: Entry = Entry {
    rules: &[14, 21, 24, 26, 27, 28, 29, 33, 86],
    clauses: &[],
    evidence: &["D16"],
    anomalies: &["isr-illegal"],
    needs: &[Need::Elections, Need::Samples, Need::Outcome],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    judge_log(view, findings);
    judge_members(view, findings);
    for kept in kept_behind(view) {
        findings.violation("isr-illegal", || {
            let why = format!(
                "node {} stayed in the ISR with LEO {} at {} ns, although its leader had {} at {} \
                 ns",
                kept.node, kept.end, kept.asked, kept.leader_end, kept.leader_answered
            );
            finding(view, 24, why)
        });
    }
    for dropped in dropped_in_time(view) {
        findings.violation("isr-illegal", || {
            let why = format!(
                "metadata record {} dropped node {} from the ISR, which had reached the leader's \
                 LEO {} no more than {} ns before",
                dropped.record, dropped.node, dropped.reached, dropped.at_most_ns
            );
            finding(view, 24, why)
        });
    }
}

fn judge_log(view: &KeyView<'_>, findings: &mut Findings) {
    let states = view.states();
    for (nth, state) in states.iter().enumerate() {
        let before = nth.checked_sub(1).map(|before| &states[before]);
        for illegal in newly_illegal(state, before) {
            findings.violation("isr-illegal", || {
                let why = format!(
                    "metadata record {}: {} (leader {:?}, ISR {:?}, ELR {:?}, replicas {:?})",
                    state.record,
                    illegal.what(),
                    state.leader,
                    state.isr,
                    state.elr,
                    state.replicas
                );
                finding(view, illegal.rule(), why)
            });
        }
    }
}

/// Rule 26: what some replica knew to be committed, every member holds.
fn judge_members(view: &KeyView<'_>, findings: &mut Findings) {
    let mut committed: Vec<Committed> = view
        .replica_samples()
        .iter()
        .filter_map(|told| Some(Committed { during: told.during(), to: told.state.hw? }))
        .collect();
    committed.sort_by_key(|known| known.during.1);
    for short in short_of(view, &committed) {
        findings.violation("isr-illegal", || {
            let why = format!(
                "node {} had LEO {} at {} ns, although it was in sync when the HW had reached {} \
                 ({} ns)",
                short.node, short.end, short.asked, short.committed.to, short.committed.during.1
            );
            finding(view, 26, why)
        });
    }
}

fn finding(view: &KeyView<'_>, rule: u16, why: String) -> Finding {
    view.finding_at(None, rule, "D16", Vec::new(), why)
}
