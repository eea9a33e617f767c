//! The invariants that every step must keep, from what disks, replicas and clients show.

use std::collections::{BTreeMap, BTreeSet};

use highwater_broker::Node;
use highwater_log::{Command, Completion, Done};
use highwater_node_core::types::{PartitionId, PartitionState, Time};

use super::net::Place;
use super::shadow::{Entry, Shadow};

/// The number that stands for the metadata log among partitions.
pub const METADATA: i32 = -1;

/// What an invariant found, or nothing.
pub type Checked = Result<(), String>;

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub acked_all: u64,
    pub acked_one: u64,
    pub read: u64,
    pub leaders: u64,
    pub truncations: u64,
    pub kills: u64,
}

/// A leader as it was last seen.
#[derive(Clone, Copy)]
struct Leading {
    run: u64,
    epoch: i32,
    high_watermark: i64,
    /// When it was first seen to lead in this epoch.
    since: Time,
}

/// Everything that was ever true of the cluster.
#[derive(Default)]
pub struct Checks {
    shadows: BTreeMap<(Place, i32), Shadow>,
    /// The record at each (partition, offset, epoch), and the epoch of the record before it.
    records: BTreeMap<(i32, i64, i32), (u64, Option<i32>)>,
    /// Who led each (partition, epoch).
    leaders: BTreeMap<(i32, i32), Place>,
    leading: BTreeMap<(Place, i32), Leading>,
    /// Everything below any leader's high watermark.
    committed: BTreeMap<i32, Vec<Entry>>,
    /// The controller's committed state of each partition.
    states: BTreeMap<i32, PartitionState>,
    pub stats: Stats,
}

fn ensure(holds: bool, found: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(found()) }
}

impl Checks {
    /// A disk executed a command on a partition's log.
    pub fn executed(
        &mut self,
        place: Place,
        partition: i32,
        command: &Command,
        done: &Completion,
    ) -> Checked {
        let shadow = self.shadows.entry((place, partition)).or_default();
        match (command, done) {
            (Command::Open { .. }, Ok(Done::Opened(opened))) => {
                let (held, found) = (shadow.end(), opened.state.log_end);
                ensure(held == found, || {
                    format!("{place:?} opened {partition} with {found} records, it wrote {held}")
                })
            }
            (Command::Append { batches, .. }, Ok(_)) => {
                let start = shadow.append(batches.clone())?;
                self.check_new_records(place, partition, start)
            }
            (Command::Truncate { to, .. }, Ok(_)) => {
                self.stats.truncations += 1;
                shadow.truncate(*to);
                Ok(())
            }
            (Command::TruncateFully { start, .. }, Ok(_)) => {
                shadow.truncate(0);
                ensure(*start == 0, || format!("{place:?} starts {partition} anew at {start}"))
            }
            (_, Err(error)) => Err(format!("{place:?}: a disk command failed: {error}")),
            _ => Ok(()),
        }
    }

    /// Rule 3: (epoch, offset) names one record, with one history before it.
    fn check_new_records(&mut self, place: Place, partition: i32, start: i64) -> Checked {
        let shadow = &self.shadows[&(place, partition)];
        for offset in start..shadow.end() {
            let entry = shadow.get(offset).expect("the record was just added");
            let before = shadow.get(offset - 1).map(|before| before.epoch);
            ensure(before <= Some(entry.epoch), || {
                format!("rule 3: epochs go back at {partition}@{offset} on {place:?}")
            })?;
            let key = (partition, offset, entry.epoch);
            let known = *self.records.entry(key).or_insert((entry.id, before));
            ensure(known == (entry.id, before), || {
                format!(
                    "rule 3: {place:?} holds another record at {partition}@{offset} epoch {}",
                    entry.epoch
                )
            })?;
        }
        Ok(())
    }

    /// What a broker says of its replicas after a step.
    pub fn observe_broker(
        &mut self,
        now: Time,
        place: Place,
        run: u64,
        node: &Node,
        partitions: &BTreeSet<PartitionId>,
    ) -> Checked {
        node.broker().replicas.validate();
        node.broker().follower.observer().validate();
        for id in partitions {
            let replica = node.broker().replicas.replica(*id);
            let leads = replica.and_then(|replica| Some((replica.leads()?.0, replica.bounds())));
            match leads {
                Some((epoch, bounds)) => {
                    let high_watermark = bounds.high_watermark.0;
                    let seen = Leading { run, epoch, high_watermark, since: now };
                    self.observe_leader(place, id.index, seen)?;
                }
                None => {
                    self.leading.remove(&(place, id.index));
                }
            }
        }
        self.check_strong_isr()
    }

    fn observe_leader(&mut self, place: Place, partition: i32, now: Leading) -> Checked {
        let same = |known: &&Leading| known.run == now.run && known.epoch == now.epoch;
        let before = self.leading.get(&(place, partition)).filter(same).copied();
        let since = before.map_or(now.since, |before| before.since);
        self.leading.insert((place, partition), Leading { since, ..now });
        match before {
            Some(before) => ensure(before.high_watermark <= now.high_watermark, || {
                format!("rule 18: the high watermark of {partition} on {place:?} goes back")
            })?,
            None => self.observe_new_leader(place, partition, now.epoch)?,
        }
        self.observe_commit(place, partition, now.high_watermark)
    }

    /// Rules 35 and 14: one leader an epoch, and it holds everything that is committed.
    fn observe_new_leader(&mut self, place: Place, partition: i32, epoch: i32) -> Checked {
        let first = *self.leaders.entry((partition, epoch)).or_insert_with(|| {
            self.stats.leaders += 1;
            place
        });
        ensure(first == place, || {
            format!("rule 35: {first:?} and {place:?} both lead {partition} in epoch {epoch}")
        })?;
        // Who takes up a leadership that is over may hold less: it commits nothing (rule 35).
        let current = self.states.get(&partition).map(|state| state.leader_epoch.0);
        ensure(current != Some(epoch) || self.holds_committed(place, partition), || {
            format!("rule 14: {place:?} leads {partition} without all that is committed")
        })
    }

    /// Rule 2: what is below a leader's high watermark never changes.
    fn observe_commit(&mut self, place: Place, partition: i32, high_watermark: i64) -> Checked {
        let committed = self.committed.entry(partition).or_default();
        let shadow = self.shadows.entry((place, partition)).or_default();
        for offset in committed.len() as i64..high_watermark {
            let Some(entry) = shadow.get(offset) else {
                let end = shadow.end();
                let text = format!("{place:?} commits {partition}@{offset}, its disk has {end}");
                return Err(format!("rule 6: {text}"));
            };
            committed.push(entry);
        }
        let last = high_watermark.min(committed.len() as i64) - 1;
        let agrees = last < 0 || shadow.get(last) == committed.get(last as usize).copied();
        ensure(agrees, || format!("rule 2: {place:?} commits another record at {partition}@{last}"))
    }

    /// What the controller has committed.
    pub fn observe_controller(&mut self, node: &Node) -> Checked {
        let controller = node.controller();
        controller.validate();
        for (id, partition) in controller.image().partitions() {
            let before = self.states.insert(id.index, partition.state.clone());
            let epoch = before.map_or(0, |state| state.partition_epoch.0);
            ensure(epoch <= partition.state.partition_epoch.0, || {
                format!("rule 25: the partition epoch of {id:?} goes back")
            })?;
        }
        self.check_strong_isr()
    }

    /// Rule 26: every member of the controller's ISR holds every record below any leader's high
    /// watermark.
    fn check_strong_isr(&self) -> Checked {
        for (partition, state) in &self.states {
            for member in &state.isr {
                ensure(self.holds_committed(Place(member.0), *partition), || {
                    let isr = &state.isr;
                    format!("rule 26: {member} is in the ISR {isr:?} of {partition} and lags")
                })?;
            }
        }
        Ok(())
    }

    /// By log matching, who holds the last committed record holds all of them.
    fn holds_committed(&self, place: Place, partition: i32) -> bool {
        let Some(last) = self.committed.get(&partition).and_then(|all| all.last()) else {
            return true;
        };
        let at = self.committed[&partition].len() as i64 - 1;
        let shadow = self.shadows.get(&(place, partition));
        shadow.is_some_and(|shadow| shadow.get(at) == Some(*last))
    }

    /// Rule 36: acks=all is answered once the records are committed.
    pub fn acked(&mut self, partition: i32, offset: i64, values: &[u64], acks: i16) -> Checked {
        if acks != -1 {
            self.stats.acked_one += 1;
            return Ok(());
        }
        self.stats.acked_all += 1;
        for (at, value) in (offset..).zip(values) {
            let found = self.committed_at(partition, at).and_then(|entry| entry.value);
            ensure(found == Some(*value), || {
                format!(
                    "rule 36: {value} was acknowledged at {partition}@{at}, committed: {found:?}"
                )
            })?;
        }
        Ok(())
    }

    /// Rules 58 and 59: a consumer gets what is committed and nothing else.
    pub fn read(&mut self, partition: i32, offset: i64, epoch: i32, value: u64) -> Checked {
        self.stats.read += 1;
        let found = self.committed_at(partition, offset);
        let right = found.is_some_and(|e| e.value == Some(value) && e.epoch == epoch);
        ensure(right, || {
            format!("rule 58: {value} was read at {partition}@{offset}, committed: {found:?}")
        })
    }

    fn committed_at(&self, partition: i32, offset: i64) -> Option<Entry> {
        self.committed.get(&partition)?.get(usize::try_from(offset).ok()?).copied()
    }

    /// Rule 42: the leader knows a committed batch again. Who was deposed and has not heard of it
    /// may lack what its successor committed, so the answer counts if the broker led, in the epoch
    /// that is still the newest, since before the repeat was sent.
    pub fn repeat_refused(&self, partition: i32, value: u64, (by, sent): (Place, Time)) -> Checked {
        let newest = self.states.get(&partition).map(|state| state.leader_epoch.0);
        let leading = self.leading.get(&(by, partition));
        if leading.is_none_or(|now| Some(now.epoch) != newest || now.since > sent) {
            return Ok(());
        }
        let committed = self.committed.get(&partition);
        let held = committed.is_some_and(|all| all.iter().any(|e| e.value == Some(value)));
        ensure(!held, || {
            format!("rule 42: the repeat of {value} was refused, it is committed in {partition}")
        })
    }

    /// Rule 81: every ISR is full, and all that any replica holds is committed.
    pub fn is_whole(&self) -> bool {
        self.states.iter().all(|(partition, state)| {
            let committed = self.committed.get(partition).map_or(0, Vec::len) as i64;
            let same = |id: &Place| self.end_of(*id, *partition) == committed;
            let full = state.isr.len() == state.replicas.len() && state.leader.is_some();
            full && state.replicas.iter().all(|id| same(&Place(id.0)))
        })
    }

    fn end_of(&self, place: Place, partition: i32) -> i64 {
        self.shadows.get(&(place, partition)).map_or(0, Shadow::end)
    }

    /// At the end all replicas hold the committed records, and no idempotent producer's twice.
    pub fn finish(&self, idempotent: impl Fn(u64) -> bool) -> Checked {
        for (partition, state) in &self.states {
            let committed = self.committed.get(partition).map_or(&[][..], Vec::as_slice);
            for replica in &state.replicas {
                let held = self.shadows.get(&(Place(replica.0), *partition));
                ensure(held.map_or(&[][..], Shadow::entries) == committed, || {
                    format!("rule 1: replica {replica} of {partition} differs from the others")
                })?;
            }
            let mut values: Vec<u64> = committed.iter().filter_map(|entry| entry.value).collect();
            values.retain(|value| idempotent(*value));
            let all = values.len();
            values.sort_unstable();
            values.dedup();
            ensure(values.len() == all, || format!("rule 42: {partition} holds a batch twice"))?;
        }
        Ok(())
    }
}
