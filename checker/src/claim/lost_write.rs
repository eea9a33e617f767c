//! An acknowledged record is where its acknowledgement says, for as long as it is retained.

use std::cell::LazyCell;

use highwater_history::{Offset, TimeNs, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{operations::Outcome, records::RecordId},
    replicas::{FinalLog, Holds},
    view::KeyView,
};

/// Judges acknowledged records against the final log, or against what consumers passed over.
pub static ENTRY: Entry = Entry {
    rules: &[2, 4, 14, 16, 17, 22, 23, 26, 27, 36, 37, 38],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4", "c.1.5"],
    evidence: &["D1"],
    anomalies: &["lost-write"],
    needs: &[Need::Dumps, Need::Elections, Need::Outcome],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let polls = LazyCell::new(|| Polls::of(view));
    let read_to = view.key.reads.read_to();
    for record in view.key.records.ids() {
        let ruling = match &view.log {
            Some(log) => absent_from(log, view, record),
            None => passed_over(view, (read_to, &polls), record),
        };
        let Some((offset, ruling)) = ruling else { continue };
        count(view, record, offset, &ruling, findings);
        findings.rule("lost-write", ruling, || describe(view, record, offset));
    }
}

/// How much was lost to what.
fn count(
    view: &KeyView<'_>,
    record: RecordId,
    offset: Option<Offset>,
    ruling: &Ruling,
    findings: &mut Findings,
) {
    let permission = match ruling {
        Ruling::Permitted(permission) => Some(permission),
        Ruling::Forbidden => None,
        Ruling::Undecided(_) => return,
    };
    let (Some(offset), Some(sender)) = (offset, view.sender(record)) else { return };
    let acknowledged = (sender.completed_at, sender.node);
    findings.lose(&view.key.key, permission, offset, acknowledged);
}

/// With dumps: the record is not below the high watermark of the final leader's log.
fn absent_from(
    log: &FinalLog<'_>,
    view: &KeyView<'_>,
    record: RecordId,
) -> Option<(Option<Offset>, Ruling)> {
    let records = &view.key.records;
    if !records.is_acknowledged(record) || log.committed_place(record).is_some() {
        return None;
    }
    let offset = records.ack(record, &view.run.index.ops);
    if offset.is_some_and(|offset| offset < log.from) {
        return None;
    }
    let why = if log.place_of(record).is_some() {
        "an acknowledged record stands above the final high watermark"
    } else if offset.is_some_and(|offset| log.at(offset) == Holds::Unreadable) {
        "the final log is unreadable where a record was acknowledged"
    } else {
        return Some((offset, view.loss(record, offset)));
    };
    let at = offset.map_or_else(String::new, |offset| format!(" at {offset}"));
    Some((offset, Ruling::Undecided(format!("{}{at}: {why}", view.key.key))))
}

/// How far ok polls went from a time on.
struct Polls {
    /// When each was invoked, and the highest offset that it or a later one returned.
    since: Vec<(TimeNs, Offset)>,
}

impl Polls {
    fn of(view: &KeyView<'_>) -> Self {
        let reads = &view.key.reads;
        let ok = reads.runs().filter(|run| view.op(run.op).outcome == Outcome::Ok);
        let mut since: Vec<_> = ok
            .filter_map(|run| Some((view.op(run.op).invoked_at, reads.highest(&run)?.0)))
            .collect();
        since.sort_unstable();
        let mut highest = Offset::MIN;
        for poll in since.iter_mut().rev() {
            highest = highest.max(poll.1);
            poll.1 = highest;
        }
        Self { since }
    }

    fn reached(&self, offset: Offset, from: TimeNs) -> bool {
        let first = self.since.partition_point(|(invoked_at, _)| *invoked_at < from);
        self.since.get(first).is_some_and(|(_, highest)| *highest >= offset)
    }
}

/// Without dumps: an ok poll reached the record's offset or a higher one, and none returned it.
fn passed_over(
    view: &KeyView<'_>,
    (read_to, polls): (Option<Offset>, &LazyCell<Polls, impl FnOnce() -> Polls>),
    record: RecordId,
) -> Option<(Option<Offset>, Ruling)> {
    let records = &view.key.records;
    if records.is_read(record) {
        return None;
    }
    let offset = records.ack(record, &view.run.index.ops)?;
    // Most records that nobody read are the last ones.
    if read_to.is_none_or(|read_to| read_to < offset) {
        return None;
    }
    let acknowledged_at = view.sender(record)?.completed_at;
    if !polls.reached(offset, 0) {
        return None;
    }
    // A history alone knows one log. In a run that log may have been cut after the poll, and
    // written anew since.
    let same_log = view.run.evidence.is_bare() || polls.reached(offset, acknowledged_at);
    let ruling = match same_log {
        true => view.loss(record, Some(offset)),
        false => Ruling::Undecided(format!(
            "{}: polls went past {offset} before a record was acknowledged there, and no final log \
             tells whether it is there",
            view.key.key
        )),
    };
    Some((Some(offset), ruling))
}

fn describe(view: &KeyView<'_>, record: RecordId, offset: Option<Offset>) -> Finding {
    let acks = view.acks(record).as_str();
    let who = view.sender(record).and_then(|sender| sender.node);
    let who = who.map_or("a broker".to_owned(), |node| format!("node {node}"));
    let found = match &view.log {
        Some(log) => match offset.map(|offset| log.at(offset)) {
            Some(Holds::Value(value)) => {
                format!("the final log of node {} holds {value} there", log.node)
            }
            _ => format!("the final log of node {} does not hold it", log.node),
        },
        None => "polls went past it without returning it".to_owned(),
    };
    let why =
        format!("{who} acknowledged it (acks={acks}); {found}{}", view.held_by(record, offset));
    view.finding(record, offset, 38, "D1", why)
}
