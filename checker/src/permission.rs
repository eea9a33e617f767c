//! What permits a record to be gone, and consumers to be set back: the clauses of contract part c.

use std::{collections::BTreeMap, ops::Range};

use highwater_history::{
    LeaderEpoch, Offset, TimeNs, dumps::DumpBatch, event::Acks, samples::Said,
};

use crate::{
    budget::Stay,
    finding::{Permission, Ruling},
    index::{operations::Operation, records::RecordId},
    leadership::{CLOCK_SLACK_NS, Election, Leadership, Source},
    view::KeyView,
};

impl Permission {
    /// A clause and what fulfils it.
    pub fn new(clause: &str, fulfilled_by: impl Into<String>) -> Self {
        Self { clause: clause.to_owned(), fulfilled_by: fulfilled_by.into() }
    }
}

/// The highest offset that was surely committed in each leader epoch: everything below it in that
/// epoch was committed too.
pub type CommittedTo = BTreeMap<LeaderEpoch, Offset>;

impl KeyView<'_> {
    /// Whether a record that was acknowledged may be gone; its offset is none where none was told.
    pub fn loss(&self, record: RecordId, offset: Option<Offset>) -> Ruling {
        let sender = self.sender(record);
        let committed = sender.map_or((0, 0), |sender| (sender.sent_at, sender.completed_at));
        let (sent_at, _) = committed;
        let replaced_at = self.replaced_at(record, offset);
        let is_committed = sender.is_some() && self.sent_acks(record) == Acks::All;
        let stay = Stay { since: sent_at, committed, is_committed, replaced_at };
        let after = self.since(sent_at)..self.elections.len();
        self.unclean_loss(offset, after.clone())
            .or_else(|| self.resurrected(record, offset, after))
            .or_else(|| self.loss_budget(offset, stay))
            .or_else(|| self.acks_loss(record, offset))
            .or_else(|| self.unplaced(offset))
    }

    /// c.1.5: a record whose offset nobody told may have been deleted with the log's beginning.
    fn unplaced(&self, offset: Option<Offset>) -> Ruling {
        match &self.log {
            Some(log) if offset.is_none() && log.from > 0 => Ruling::Undecided(format!(
                "{}: the offset of an acknowledged record was never told, and the log's beginning \
                 was deleted",
                self.key.key
            )),
            Some(_) | None => Ruling::Forbidden,
        }
    }

    /// c.1.1: an allowed unclean election among these, whose leader's log ended at or below an
    /// offset.
    pub fn unclean_loss(&self, offset: Option<Offset>, among: Range<usize>) -> Ruling {
        let mut undecided = None;
        let elections = self.elections.get(among).unwrap_or_default();
        for election in elections.iter().filter(|e| e.unclean && e.unclean_allowed) {
            let start = self.log.as_ref().map(|log| log.start_of_epoch(election.epoch));
            match (start, offset) {
                (Some(start), Some(offset)) if start <= offset => {
                    let fulfilled_by = format!("{}; its log ended at {start}", election.describe());
                    return Ruling::Permitted(Permission::new("c.1.1", fulfilled_by));
                }
                (Some(_), Some(_)) => {}
                (None, _) => {
                    let why = "an unclean election is on record, but no final log says how far it \
                               cut";
                    undecided = Some(why);
                }
                (_, None) => {
                    let why = "an unclean election is on record, and the offset of a record that \
                               it may have cut was never told";
                    undecided = Some(why);
                }
            }
        }
        if undecided.is_none() && self.unclean_may_be_hidden() {
            undecided =
                Some("unclean elections were allowed, and no whole metadata log tells of them");
        }
        match undecided {
            Some(why) => Ruling::Undecided(format!("{}: {why}", self.key.key)),
            None => Ruling::Forbidden,
        }
    }

    /// c.1.1: an allowed unclean election among these, whose leader held at a record's offset what
    /// was written under an older epoch than the record: a log that is longer than the offset, and
    /// never had the record.
    fn resurrected(&self, record: RecordId, offset: Option<Offset>, among: Range<usize>) -> Ruling {
        let Some(offset) = offset else { return Ruling::Forbidden };
        let held = self.log.as_ref().and_then(|log| log.batch_at(offset));
        let Some(held) = held.filter(|held| held.epoch >= 0) else { return Ruling::Forbidden };
        let written = self.epoch_of(record, offset);
        let elections = self.elections.get(among).unwrap_or_default();
        let since = written.unwrap_or(held.epoch);
        let mut later = elections.iter().filter(|election| election.epoch > since);
        let Some(election) = later.find(|e| e.unclean && e.unclean_allowed) else {
            return Ruling::Forbidden;
        };
        match written {
            Some(epoch) if epoch <= held.epoch => Ruling::Forbidden,
            Some(epoch) => {
                let fulfilled_by = format!(
                    "{}; its log had a record of epoch {} there, older than epoch {epoch}",
                    election.describe(),
                    held.epoch
                );
                Ruling::Permitted(Permission::new("c.1.1", fulfilled_by))
            }
            None => Ruling::Undecided(format!(
                "{}: an unclean election is on record, and nothing says in which epoch the record \
                 that it may have cut was written",
                self.key.key
            )),
        }
    }

    /// Whether there may have been an allowed unclean election that nothing tells of.
    pub fn unclean_may_be_hidden(&self) -> bool {
        self.unclean_promised() && self.run.leadership.source() != Source::Metadata
    }

    /// c.1.5: whether an offset was deleted, since it lies below the final log's start.
    pub fn is_deleted(&self, offset: Offset) -> bool {
        self.log.as_ref().is_some_and(|log| offset < log.from)
    }

    /// c.1.5: what permits a consumer to pass over a deleted offset.
    fn deletion(&self, offset: Offset) -> Ruling {
        match &self.log {
            Some(log) if self.is_deleted(offset) => Ruling::Permitted(Permission::new(
                "c.1.5",
                format!("the final log of node {} starts at {}", log.node, log.from),
            )),
            Some(_) | None => Ruling::Forbidden,
        }
    }

    /// What permits a consumer to pass over a record: it was deleted, or may be gone.
    pub fn passing_over(&self, record: RecordId, offset: Offset) -> Ruling {
        self.deletion(offset).or_else(|| self.loss(record, Some(offset)))
    }

    /// c.2: what the producer's acks level permits, unless the record is lifted to committed.
    fn acks_loss(&self, record: RecordId, offset: Option<Offset>) -> Ruling {
        let acks = self.acks(record);
        if acks == Acks::All || self.key.records.is_read(record) {
            return Ruling::Forbidden;
        }
        if offset.is_some_and(|offset| self.is_below_committed(record, offset)) {
            return Ruling::Forbidden;
        }
        let clause = format!("c.2 acks={}", acks.as_str());
        if self.run.said.acks.is_some() {
            return Ruling::Permitted(Permission::new(&clause, "the promise that the user named"));
        }
        if acks == Acks::Zero {
            let fulfilled_by = "nobody acknowledges acks=0";
            return Ruling::Permitted(Permission::new(&clause, fulfilled_by));
        }
        self.leadership_lost(record, offset, &clause)
            .or_else(|| self.leader_lost_data(record, offset, &clause))
    }

    /// Whether a record lies below what was surely committed of its own lineage.
    pub fn is_below_committed(&self, record: RecordId, offset: Offset) -> bool {
        let committed = self.committed.get_or_init(|| self.committed_to());
        let epoch = self.acked_epoch(record);
        epoch.and_then(|epoch| committed.get(&epoch)).is_some_and(|to| offset < *to)
    }

    /// c.2 acks=1: the leader that acknowledged lost leadership to another broker, whose log ended
    /// at or below the record.
    fn leadership_lost(&self, record: RecordId, offset: Option<Offset>, clause: &str) -> Ruling {
        let undecided = |why| Ruling::Undecided(format!("{}: {why}", self.key.key));
        let source = self.run.leadership.source();
        if source == Source::None {
            return undecided("neither metadata log nor samples say whether leadership moved");
        }
        let Some(sender) = self.sender(record) else { return Ruling::Forbidden };
        let no_other = match source {
            Source::CutMetadata => undecided("the metadata log is not whole"),
            Source::None | Source::Samples | Source::Metadata => Ruling::Forbidden,
        };
        let mut successors = self.successors(sender).peekable();
        if successors.peek().is_none() {
            return no_other;
        }
        let (Some(log), Some(offset)) = (&self.log, offset) else {
            return undecided(
                "leadership moved, and nothing says how far the next leader's log went",
            );
        };
        // A successor may keep a longer log of an older epoch, which its predecessor never had.
        let parted = self.is_of_older_epoch(sender, log.batch_at(offset));
        let cuts = |election: &&Election| parted || log.start_of_epoch(election.epoch) <= offset;
        match successors.find(cuts) {
            Some(election) => Ruling::Permitted(Permission::new(clause, election.describe())),
            None => no_other,
        }
    }

    /// Whether what stands in the log was written under an older epoch than the one in which an
    /// operation's broker surely led when it was asked.
    fn is_of_older_epoch(&self, sender: &Operation, held: Option<&DumpBatch>) -> bool {
        let led = |node| Leadership::led_at_earliest(self.elections, node, sender.sent_at);
        let epoch = sender.node.and_then(led).map(|(_, election)| election.epoch);
        epoch.zip(held).is_some_and(|(epoch, held)| held.epoch >= 0 && held.epoch < epoch)
    }

    /// The elections of another broker that may have ended the leadership under which an operation
    /// was acknowledged.
    fn successors(&self, sender: &Operation) -> impl Iterator<Item = &Election> {
        let from = self.after_leader_of(sender).unwrap_or_else(|| self.since(sender.sent_at));
        let before = self.elections[..from].iter().rev().find_map(|election| election.leader);
        let node = sender.node;
        let mut leader = node.or(before);
        self.elections[from..].iter().filter(move |election| {
            let Some(next) = election.leader else { return false };
            let moved = leader.is_some_and(|leader| leader != next);
            if node.is_none() {
                leader = Some(next);
            }
            moved
        })
    }

    /// Where the elections begin that followed the one under which an operation's broker led; none
    /// where its broker is not known or never led.
    pub fn after_leader_of(&self, operation: &Operation) -> Option<usize> {
        let node = operation.node?;
        let surely = Leadership::led_at_earliest(self.elections, node, operation.sent_at);
        let at_most = || Leadership::led_at_latest(self.elections, node, operation.completed_at);
        surely.or_else(at_most).map(|(at, _)| at + 1)
    }

    /// Where the elections begin that an operation's broker may not have known of.
    fn first_after(&self, operation: &Operation) -> usize {
        let timed = self.since(operation.sent_at);
        self.after_leader_of(operation).map_or(timed, |at| at.min(timed))
    }

    /// Where the elections begin that may have been after a time.
    pub fn since(&self, time: TimeNs) -> usize {
        let before = |election: &Election| election.at.saturating_add(CLOCK_SLACK_NS) < time;
        self.elections.partition_point(before)
    }

    /// Where the elections end that may have been before a time.
    fn until(&self, time: TimeNs) -> usize {
        let limit = time.saturating_add(CLOCK_SLACK_NS);
        self.elections.partition_point(|election| election.at <= limit)
    }

    /// Records that were acknowledged at acks=all, where their offset was told.
    pub fn acknowledged_by_all(&self) -> impl Iterator<Item = (RecordId, Offset)> {
        let records = &self.key.records;
        let by_all = records
            .ids()
            .filter(|record| records.is_acknowledged(*record) && self.acks(*record) == Acks::All);
        by_all.filter_map(|record| Some((record, records.ack(record, &self.run.index.ops)?)))
    }

    /// How far acks=all acknowledgements and leaders' own high watermarks reached in each epoch.
    fn committed_to(&self) -> CommittedTo {
        let mut committed = CommittedTo::new();
        let mut reached = |epoch: LeaderEpoch, offset: Offset| {
            let to = committed.entry(epoch).or_insert(offset);
            *to = (*to).max(offset);
        };
        for (record, offset) in self.acknowledged_by_all() {
            let kept = self.log.as_ref().filter(|log| log.place_of(record) == Some(offset));
            let epoch = kept.and_then(|log| log.batch_at(offset)).map(|batch| batch.epoch);
            if let Some(epoch) = epoch.or_else(|| self.acked_epoch(record)) {
                reached(epoch, offset);
            }
        }
        for sample in &self.run.evidence.samples {
            let Said::Replica(state) = &sample.said else { continue };
            let leads = state.key == self.key.key && state.leads == Some(true);
            if let (Some(epoch), Some(hw)) = (state.leader_epoch.filter(|_| leads), state.hw) {
                reached(epoch, hw);
            }
        }
        committed
    }

    /// c.7.2, c.1: whether a record that an operation read may be gone since. A deposed leader goes
    /// on to answer what an unclean election has cut already.
    pub fn read_loss(&self, record: RecordId, offset: Offset, reader: &Operation) -> Ruling {
        let end = self.elections.len();
        let from = self.first_after(reader);
        self.stale(offset, reader, end)
            .or_else(|| self.resurrected(record, Some(offset), from..end))
            .or_else(|| self.read_budget(offset, reader))
    }

    /// c.3: an allowed unclean election between two reads sets consumers back or ahead.
    pub fn consumers_moved(&self, offset: Offset, from: &Operation, to: &Operation) -> Ruling {
        let end = self.until(to.completed_at);
        self.stale(offset, from, end).or_else(|| self.read_budget(offset, from))
    }

    /// Rule 59: what was read was committed by then, and not before somebody sent it.
    fn read_budget(&self, offset: Offset, reader: &Operation) -> Ruling {
        let holders = self.key.order.holders(offset).iter();
        let sent = holders.filter_map(|record| Some(self.sender(*record)?.sent_at)).min();
        let committed = (sent.unwrap_or(0), reader.completed_at);
        let since = reader.sent_at;
        let stay = Stay { since, committed, is_committed: true, replaced_at: None };
        self.loss_budget(Some(offset), stay)
    }

    /// What unclean elections after the leadership under which an operation was answered cut.
    fn stale(&self, offset: Offset, reader: &Operation, end: usize) -> Ruling {
        let timed = self.since(reader.sent_at);
        let ruling = self.unclean_loss(Some(offset), self.first_after(reader)..end);
        ruling.or_else(|| {
            let by_whom = || self.unclean_loss(Some(offset), 0..end.min(timed));
            match (reader.node, by_whom()) {
                (None, Ruling::Permitted(permission)) => Ruling::Undecided(format!(
                    "{}: nothing says which broker answered a read after an unclean election ({})",
                    self.key.key, permission.fulfilled_by
                )),
                _ => Ruling::Forbidden,
            }
        })
    }
}
