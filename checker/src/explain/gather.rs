//! Collects the operations among which a finding is looked for, ever more of them.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Event, EventValue, FormatError, Key, Offset, Value,
    event::{EventKind, Function, MicroOp},
    types::ProcessId,
    verdict::Finding,
};

use super::{
    nearest::Nearest,
    source::{Piece, each},
    unit::Unit,
};
use crate::History;

/// How far from the finding's own operations others are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its own operations alone.
    Own,
    /// What names its records and their places, what lies nearest to these, and what its processes
    /// were assigned.
    Near,
    /// Everything that names its keys, and every assignment.
    Keys,
    /// Everything.
    All,
}

impl Reach {
    /// From the least to all.
    pub(super) const ALL: [Self; 4] = [Self::Own, Self::Near, Self::Keys, Self::All];
}

/// What a first look at the history gives.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The operations that the finding names.
    pub(super) own: Vec<Unit>,
    /// Events of those who are no clients.
    pub(super) surroundings: Vec<Event>,
    /// Polls that returned something of the finding's key, and how many of them ended ok.
    pub(super) polls: (u64, u64),
    /// Operations in the whole history.
    pub(super) operations: u64,
}

impl Gathered {
    /// The keys that the finding and its operations name.
    pub(super) fn keys(&self, finding: &Finding) -> BTreeSet<Key> {
        let own = self.own.iter().flat_map(Unit::keys);
        finding.key.iter().chain(own).cloned().collect()
    }
}

/// Reads the history for the finding's own operations and what stands beside operations.
pub(super) fn own(history: &History, finding: &Finding) -> Result<Gathered, FormatError> {
    let events: BTreeSet<u64> = finding.events.iter().copied().collect();
    let mut gathered = Gathered::default();
    each(history, |piece| match piece {
        Piece::Other(event) => gathered.surroundings.push(*event),
        Piece::Operation(unit) => {
            gathered.operations += 1;
            if reads(&unit, finding.key.as_ref()) {
                let is_ok = unit.done.as_ref().is_some_and(|done| done.kind == EventKind::Ok);
                gathered.polls.0 += 1;
                gathered.polls.1 += u64::from(is_ok);
            }
            if unit.events().any(|event| events.contains(&event.index)) {
                gathered.own.push(*unit);
            }
        }
    })?;
    Ok(gathered)
}

fn reads(unit: &Unit, key: Option<&Key>) -> bool {
    let of_key = |op: &MicroOp| match op {
        MicroOp::Send { .. } => false,
        MicroOp::Poll { records } => records.iter().flatten().any(|(read, _)| Some(read) == key),
    };
    unit.micro_ops().iter().any(of_key)
}

/// The operations within a reach of the finding.
pub(super) fn within(
    reach: Reach,
    history: &History,
    gathered: &Gathered,
    finding: &Finding,
) -> Result<Vec<Unit>, FormatError> {
    if reach == Reach::Own {
        return Ok(gathered.own.clone());
    }
    let focus = Focus::of(gathered, finding);
    let mut nearest = Nearest::new(&focus.places, focus.since);
    let mut taken: BTreeMap<u64, Unit> = BTreeMap::new();
    each(history, |piece| {
        let Piece::Operation(unit) = piece else { return };
        match reach {
            Reach::Near if focus.names(&unit) => {}
            Reach::Near => return nearest.offer(&unit),
            Reach::Keys if focus.touches(&unit) => {}
            Reach::Own | Reach::Keys => return,
            Reach::All => {}
        }
        taken.insert(unit.id(), *unit);
    })?;
    taken.extend(nearest.found().map(|unit| (unit.id(), unit)));
    taken.extend(gathered.own.iter().map(|unit| (unit.id(), unit.clone())));
    let mut units: Vec<Unit> = taken.into_values().collect();
    if reach != Reach::All {
        let own: BTreeSet<u64> = gathered.own.iter().map(Unit::id).collect();
        let others = units.iter_mut().filter(|unit| !own.contains(&unit.id()));
        others.for_each(|unit| leave_other_keys(unit, &focus.keys));
    }
    Ok(units)
}

/// What the finding is about.
struct Focus {
    keys: BTreeSet<Key>,
    records: BTreeSet<(Key, Value)>,
    places: BTreeMap<Key, BTreeSet<Offset>>,
    processes: BTreeSet<ProcessId>,
    /// Index of the last of its own events.
    since: u64,
}

impl Focus {
    fn of(gathered: &Gathered, finding: &Finding) -> Self {
        let mut focus = Self {
            keys: gathered.keys(finding),
            records: BTreeSet::new(),
            places: BTreeMap::new(),
            processes: gathered.own.iter().map(Unit::process).collect(),
            since: finding.events.iter().copied().max().unwrap_or(0),
        };
        if let Some(key) = &finding.key {
            focus.records.extend(finding.value.map(|value| (key.clone(), value)));
            focus.places.entry(key.clone()).or_default().extend(finding.offset);
        }
        for op in gathered.own.iter().flat_map(Unit::micro_ops) {
            focus.take(op);
        }
        focus
    }

    /// What an own operation sent, and where what it read begins and ends.
    fn take(&mut self, op: &MicroOp) {
        match op {
            MicroOp::Send { key, value, ack } => {
                self.records.insert((key.clone(), *value));
                self.places.entry(key.clone()).or_default().extend(ack.offset());
            }
            MicroOp::Poll { records } => {
                for (key, read) in records.iter().flatten() {
                    let ends = read.first().into_iter().chain(read.last());
                    let places = self.places.entry(key.clone()).or_default();
                    places.extend(ends.filter_map(|record| record.0));
                }
            }
        }
    }

    /// Whether an operation names one of the records or places, or assigns one of the processes.
    fn names(&self, unit: &Unit) -> bool {
        let assigns = matches!(unit.invoke.f, Function::Assign | Function::Subscribe);
        if assigns && self.processes.contains(&unit.process()) {
            return true;
        }
        let is_place = |key: &Key, at: Option<Offset>| {
            let places = self.places.get(key);
            at.is_some_and(|at| places.is_some_and(|places| places.contains(&at)))
        };
        let is_record = |key: &Key, value: Value| {
            self.keys.contains(key) && self.records.contains(&(key.clone(), value))
        };
        unit.micro_ops().iter().any(|op| match op {
            MicroOp::Send { key, value, ack } => {
                is_place(key, ack.offset()) || is_record(key, *value)
            }
            MicroOp::Poll { records } => records.iter().flatten().any(|(key, read)| {
                self.keys.contains(key)
                    && read.iter().any(|read| is_place(key, read.0) || is_record(key, read.1))
            }),
        })
    }

    /// Whether an operation names one of the keys, or assigns anybody anything.
    fn touches(&self, unit: &Unit) -> bool {
        matches!(unit.invoke.f, Function::Assign | Function::Subscribe)
            || unit.keys().into_iter().any(|key| self.keys.contains(key))
    }
}

/// Leaves out what an operation read of other keys.
fn leave_other_keys(unit: &mut Unit, keys: &BTreeSet<Key>) {
    let Some(EventValue::Ops(ops)) = unit.done.as_mut().map(|done| &mut done.value) else { return };
    for op in ops {
        if let MicroOp::Poll { records: Some(records) } = op {
            records.retain(|(key, _)| keys.contains(key));
        }
    }
}
