//! The loss budget: how many replicas must have lost a record before the cluster may (c.1.2 to
//! c.1.4).

use std::collections::BTreeSet;

use highwater_history::{
    NodeId, Offset, TimeNs,
    dumps::{DumpBatch, Moment},
    samples::ReplicaState,
};

use crate::{
    data_loss::DataLoss,
    finding::{Permission, Ruling},
    index::records::RecordId,
    leadership::CLOCK_SLACK_NS,
    registry::{Registration, Registry},
    told::Told,
    view::KeyView,
};

/// Whether a fault took an offset from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Took {
    Yes,
    No,
    /// Nothing tells.
    Untold,
}

/// When a record was there, as far as is known.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// From here on faults may have taken it.
    pub since: TimeNs,
    /// When it was committed, if it was: at some instant of this time.
    pub committed: (TimeNs, TimeNs),
    /// Whether it surely was committed by then: acks=1 does not say so.
    pub is_committed: bool,
    /// From here on it was surely gone, where anything tells.
    pub replaced_at: Option<TimeNs>,
}

impl KeyView<'_> {
    /// Whether a fault may have cost one of its replicas data after a time.
    pub fn lost_data_after(&self, time: TimeNs) -> bool {
        self.losses_after(time).next().is_some()
    }

    /// Faults that may have cost its replicas data, from a time on.
    pub fn losses_after(&self, time: TimeNs) -> impl Iterator<Item = &DataLoss> {
        let outcome = self.run.evidence.outcome.as_ref();
        let replicas = outcome.and_then(|outcome| outcome.partitions.get(&self.key.key));
        let replicas = replicas.map(|at_end| &at_end.replicas).filter(|all| !all.is_empty());
        let is_replica = move |node: &NodeId| replicas.is_none_or(|all| all.contains(node));
        let losses = self.run.losses.iter();
        losses.filter(move |loss| loss.during.1 >= time && is_replica(&loss.node))
    }

    /// c.1.2 to c.1.4: whether faults took an offset from enough replicas while a record was there.
    pub fn loss_budget(&self, offset: Option<Offset>, stay: Stay) -> Ruling {
        let while_there = |loss: &&DataLoss| stay.replaced_at.is_none_or(|at| loss.during.0 <= at);
        let mut losses = self.losses_after(stay.since).filter(while_there).peekable();
        let Some(first) = losses.peek() else { return Ruling::Forbidden };
        let undecided = |why: &str| {
            Ruling::Undecided(format!("{}: {}, and {why}", self.key.key, first.describe()))
        };
        let Some(offset) = offset else {
            return undecided("the offset of an acknowledged record was never told");
        };
        let states = self.states();
        if states.is_empty() || !self.run.registry.is_whole {
            return undecided("no whole metadata log says who was in sync");
        }
        let mut untold = false;
        let mut taken = Vec::new();
        for loss in losses.filter(|loss| self.may_take(loss)) {
            match self.took(loss, offset, &stay) {
                Took::Yes => taken.push(loss),
                Took::No => {}
                Took::Untold => untold = true,
            }
        }
        let permitted =
            self.enough(states, &taken, stay.committed).or_else(|| sole(states, &taken));
        match permitted {
            Some(permission) => Ruling::Permitted(permission),
            None if untold => undecided("nothing tells how much was lost"),
            None => Ruling::Forbidden,
        }
    }

    /// c.1.4: where every batch is flushed, a power loss takes nothing that counts.
    fn may_take(&self, loss: &DataLoss) -> bool {
        !(self.is_flushed() && loss.is_power_loss())
    }

    fn is_flushed(&self) -> bool {
        self.run.said.flush_messages.or(self.promise.flush_messages) == Some(1)
    }

    /// Whether a fault took an offset from a node that surely had it: from one that was in sync
    /// after the offset was committed, or that told so.
    fn took(&self, loss: &DataLoss, offset: Offset, stay: &Stay) -> Took {
        let until = loss.during.1;
        let in_sync = Registry::during(self.states(), (stay.since, loss.during.0));
        let told = |told: &Told<'_, ReplicaState>| {
            told.node == loss.node
                && told.asked >= stay.since
                && told.answered <= until
                && told.state.leo.is_some_and(|end| end > offset)
        };
        if !in_sync.iter().any(|state| state.isr.contains(&loss.node))
            && !self.replica_samples().iter().any(told)
        {
            return Took::No;
        }
        if stay.is_committed && self.lacked_in_sync(loss, offset, stay.committed.1) {
            return Took::No;
        }
        self.left_nothing_of(loss, offset)
    }

    /// Whether a node, while it was surely in sync, told of a log that ended below what had been
    /// committed before: what it never had, the fault that came after did not take.
    fn lacked_in_sync(&self, loss: &DataLoss, offset: Offset, committed_at: TimeNs) -> bool {
        let in_sync = |time| {
            let states = Registry::during(self.states(), time);
            states.iter().all(|state| state.isr.contains(&loss.node))
        };
        self.replica_samples().iter().any(|told| {
            told.node == loss.node
                && told.asked >= committed_at
                && told.answered < loss.during.0
                && told.state.leo.is_some_and(|end| end <= offset)
                && in_sync((told.asked, told.answered))
        })
    }

    /// Whether an offset was not there any more after a fault, if it ever was.
    fn left_nothing_of(&self, loss: &DataLoss, offset: Offset) -> Took {
        if loss.is_wipe() {
            return Took::Yes;
        }
        if !loss.is_power_loss() {
            return Took::Untold;
        }
        let partition = self.key.partition().unwrap_or(-1);
        let name = format!("{}-{partition}", self.key.topic_name());
        match loss.cut.as_ref().map(|cut| cut.get(&name)) {
            Some(None | Some(0)) => Took::No,
            Some(Some(_)) | None => self.left_in_dump(loss, offset),
        }
    }

    /// What the dump before the node's next start shows. A node that was dumped but for this
    /// replica has no folder of it any more; a dump without batches does not say whether the log
    /// ends where it begins or below.
    fn left_in_dump(&self, loss: &DataLoss, offset: Offset) -> Took {
        let is_next = |header: &highwater_history::dumps::DumpHeader| {
            header.node == loss.node
                && header.moment == Moment::BeforeRestart
                && header.at >= loss.during.0
        };
        if self.run.evidence.lacks_dumps {
            return Took::Untold;
        }
        let all = self.run.evidence.dumps.iter().map(|(_, dump)| dump);
        let mut all: Vec<_> = all.filter(|dump| is_next(&dump.header)).collect();
        all.sort_by_key(|dump| dump.header.at);
        // Where a key is dumped again, the node was started again.
        let mut seen = BTreeSet::new();
        let mut next = all.iter().take_while(|dump| seen.insert(&dump.header.key));
        let Some(dump) = next.find(|dump| dump.header.key == self.key.key) else {
            return if all.is_empty() { Took::Untold } else { Took::Yes };
        };
        let sound = |batch: &&DumpBatch| batch.damage.is_none();
        match dump.lines.iter().rfind(sound).map(DumpBatch::end) {
            Some(end) if end > offset => Took::No,
            None if offset < dump.header.from => Took::Untold,
            Some(_) | None => Took::Yes,
        }
    }

    /// c.1.2, c.1.4: at some moment as many replicas as min ISR had lost it and were not back. It
    /// is the min ISR of the time at which it was committed (c.4).
    fn enough(
        &self,
        states: &[Registration],
        taken: &[&DataLoss],
        committed: (TimeNs, TimeNs),
    ) -> Option<Permission> {
        let promised = self.promise.min_insync_replicas.map_or(1, |least| least as usize);
        let wanted = self.least_min_isr_during(committed).unwrap_or(promised).max(1);
        for loss in taken {
            let mut outstanding: Vec<&DataLoss> = Vec::new();
            let before = taken.iter().filter(|other| other.during.0 <= loss.during.0);
            for other in before {
                let is_back = back_in_sync(states, other)
                    .is_some_and(|at| at.saturating_add(CLOCK_SLACK_NS) < loss.during.0);
                if !is_back && outstanding.iter().all(|known| known.node != other.node) {
                    outstanding.push(other);
                }
            }
            if outstanding.len() >= wanted {
                let clause = if self.is_flushed() { "c.1.4" } else { "c.1.2" };
                let nodes: Vec<_> = outstanding.iter().map(|loss| loss.describe()).collect();
                let why = format!("{}; min ISR was {wanted}", nodes.join(", "));
                return Some(Permission::new(clause, why));
            }
        }
        None
    }

    /// c.2 acks=1: a fault took the record from the leader that acknowledged it.
    pub fn leader_lost_data(
        &self,
        record: RecordId,
        offset: Option<Offset>,
        clause: &str,
    ) -> Ruling {
        let Some(sender) = self.sender(record) else { return Ruling::Forbidden };
        let mut ruling = Ruling::Forbidden;
        for loss in self.losses_after(sender.sent_at).filter(|loss| self.may_take(loss)) {
            if sender.node.is_some_and(|node| node != loss.node) {
                continue;
            }
            let took = match (sender.node, offset) {
                (Some(_), Some(offset)) => self.left_nothing_of(loss, offset),
                (Some(_), None) if loss.is_wipe() => Took::Yes,
                (None, _) | (Some(_), None) => Took::Untold,
            };
            ruling = ruling.or_else(|| match took {
                Took::Yes => Ruling::Permitted(Permission::new(clause, loss.describe())),
                Took::No => Ruling::Forbidden,
                Took::Untold => Ruling::Undecided(format!(
                    "{}: {}, and nothing tells what it took",
                    self.key.key,
                    loss.describe()
                )),
            });
        }
        ruling
    }
}

/// When a node that lost data was in sync again: after it had left the ISR.
fn back_in_sync(states: &[Registration], loss: &DataLoss) -> Option<TimeNs> {
    let since = Registry::during(states, (loss.during.0, TimeNs::MAX)).iter();
    let mut since = since.skip_while(|state| state.isr.contains(&loss.node));
    since.find(|state| state.isr.contains(&loss.node)).map(|state| state.at)
}

/// c.1.3: the last replica in sync lost it before another one came back.
fn sole(states: &[Registration], taken: &[&DataLoss]) -> Option<Permission> {
    let stood_alone = |loss: &&&DataLoss| {
        let from = Registry::during(states, (loss.during.0, TimeNs::MAX));
        let stayed = from.iter().take_while(|state| state.isr.contains(&loss.node));
        let mut alone = stayed.filter(|state| state.isr == [loss.node] && !state.elr_enabled);
        alone.next().is_some()
    };
    let loss = taken.iter().find(stood_alone)?;
    let why = format!("{}, which was the last in sync", loss.describe());
    Some(Permission::new("c.1.3", why))
}
