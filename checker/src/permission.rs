//! What permits a record to be gone, and consumers to be set back: the clauses of contract part c.

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, Offset, TimeNs, event::Acks};

use crate::{
    finding::{Permission, Ruling},
    index::{operations::Operation, records::RecordId},
    leadership::{CLOCK_SLACK_NS, Election, Leadership},
    view::KeyView,
};

impl Permission {
    /// A clause and what fulfils it.
    pub fn new(clause: &str, fulfilled_by: impl Into<String>) -> Self {
        Self { clause: clause.to_owned(), fulfilled_by: fulfilled_by.into() }
    }
}

/// The highest offset that an acks=all acknowledgement reached in each leader epoch: everything
/// below it in that epoch was committed.
pub type CommittedTo = BTreeMap<LeaderEpoch, Offset>;

impl KeyView<'_> {
    /// Whether a record that was acknowledged at an offset may be gone.
    pub fn loss(&self, record: RecordId, offset: Offset) -> Ruling {
        let invoked_at = self.sender(record).map_or(0, |sender| sender.invoked_at);
        self.unclean_loss(offset, invoked_at).or_else(|| self.acks_loss(record, offset))
    }

    /// c.1.1: an allowed unclean election after a time, whose leader's log ended at or below an
    /// offset.
    pub fn unclean_loss(&self, offset: Offset, after: TimeNs) -> Ruling {
        let later = |election: &&Election| {
            election.unclean && election.at.saturating_add(CLOCK_SLACK_NS) >= after
        };
        let mut undecided = false;
        for election in self.elections.iter().filter(later).filter(|e| e.unclean_allowed) {
            match self.log.as_ref().map(|log| log.start_of_epoch(election.epoch)) {
                Some(start) if start <= offset => {
                    let fulfilled_by = format!("{}; its log ended at {start}", election.describe());
                    return Ruling::Permitted(Permission::new("c.1.1", fulfilled_by));
                }
                Some(_) => {}
                None => undecided = true,
            }
        }
        match undecided {
            true => Ruling::Undecided(format!(
                "{}: an unclean election is on record, but no final log says how far it cut",
                self.key.key
            )),
            false => Ruling::Forbidden,
        }
    }

    /// c.2: what the producer's acks level permits, unless the record is lifted to committed.
    fn acks_loss(&self, record: RecordId, offset: Offset) -> Ruling {
        let acks = self.acks(record);
        if acks == Acks::All || self.key.records.is_read(record) {
            return Ruling::Forbidden;
        }
        if self.is_below_committed(record, offset) {
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
    }

    /// Whether a record lies below a later acks=all acknowledgement of its own lineage.
    pub fn is_below_committed(&self, record: RecordId, offset: Offset) -> bool {
        let committed = self.committed.get_or_init(|| self.committed_to());
        let epoch = self.acked_epoch(record);
        epoch.and_then(|epoch| committed.get(&epoch)).is_some_and(|to| offset < *to)
    }

    /// c.2 acks=1: the leader that acknowledged lost leadership, and its successor's log ended at
    /// or below the record.
    fn leadership_lost(&self, record: RecordId, offset: Offset, clause: &str) -> Ruling {
        if !self.run.leadership.is_known() {
            return Ruling::Undecided(format!(
                "{}: neither metadata log nor samples say whether leadership moved",
                self.key.key
            ));
        }
        let Some(sender) = self.sender(record) else { return Ruling::Forbidden };
        let successor = self.successors(sender).find(|election| {
            let log = self.log.as_ref();
            election.leader != election.previous
                && log.is_none_or(|log| log.start_of_epoch(election.epoch) <= offset)
        });
        match successor {
            Some(election) => Ruling::Permitted(Permission::new(clause, election.describe())),
            None => Ruling::Forbidden,
        }
    }

    /// The elections that may have ended the leadership under which an operation was acknowledged.
    fn successors(&self, sender: &Operation) -> impl Iterator<Item = &Election> {
        let led = sender.node.and_then(|node| {
            let surely = Leadership::led_at_earliest(self.elections, node, sender.invoked_at);
            surely.or_else(|| Leadership::led_at_latest(self.elections, node, sender.completed_at))
        });
        let from = match led {
            Some((at, _)) => at + 1,
            None => self.elections.partition_point(|election| {
                election.at.saturating_add(CLOCK_SLACK_NS) < sender.invoked_at
            }),
        };
        self.elections[from..].iter()
    }

    /// How far acks=all acknowledgements reached in each leader epoch.
    fn committed_to(&self) -> CommittedTo {
        let mut committed = CommittedTo::new();
        let records = &self.key.records;
        for record in records.ids() {
            if !records.is_acknowledged(record) || self.acks(record) != Acks::All {
                continue;
            }
            let Some(offset) = records.ack(record, &self.run.index.ops) else { continue };
            let kept = self.log.as_ref().filter(|log| log.place_of(record) == Some(offset));
            let epoch = kept.and_then(|log| log.batch_at(offset)).map(|batch| batch.epoch);
            if let Some(epoch) = epoch.or_else(|| self.acked_epoch(record)) {
                let to = committed.entry(epoch).or_insert(offset);
                *to = (*to).max(offset);
            }
        }
        committed
    }

    /// c.3: an allowed unclean election between two times sets consumers back or ahead.
    pub fn consumers_moved(&self, offset: Offset, from: TimeNs, to: TimeNs) -> Ruling {
        let before_end = |election: &&Election| {
            election.at <= to.saturating_add(CLOCK_SLACK_NS) && election.unclean
        };
        if !self.elections.iter().any(|election| before_end(&election)) {
            return Ruling::Forbidden;
        }
        self.unclean_loss(offset, from)
    }
}
