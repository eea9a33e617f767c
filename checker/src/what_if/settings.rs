//! Settings, each with its values from what was promised down to the least.

use highwater_history::{Promise, event::Acks, event::Isolation};

use crate::{Evidence, Options, index::Index};

/// How many settings there are.
pub(super) const SETTINGS: usize = 6;

/// For each setting how many steps below what was promised.
pub(super) type Change = [usize; SETTINGS];

/// Positions of settings.
pub(super) const MIN_ISR: usize = 3;
pub(super) const UNCLEAN: usize = 4;
pub(super) const FLUSH: usize = 5;

/// What was promised, and what could be promised instead.
#[derive(Debug)]
pub(super) struct Settings {
    /// The most that anybody was promised.
    pub(super) promised: Promise,
    /// What the user said already.
    said: Promise,
    /// Of each setting the weaker values, as `--promise` takes them.
    weaker: [Vec<String>; SETTINGS],
}

impl Settings {
    /// What the user, the manifest and the history's sessions say.
    pub(super) fn of(evidence: &Evidence, options: &Options, index: &Index) -> Self {
        let said = &options.promise;
        let promises = evidence.manifest.iter().map(|manifest| &manifest.promises);
        let run = promises.clone().fold(Promise::default(), |all, of| all.or(&of.run));
        let topics: Vec<&Promise> = promises.flat_map(|of| of.topics.values()).collect();
        let most = said.or(&most(&run.or(&Promise::strongest()), &topics, index));
        let weaker = [
            weaker_acks(most.acks),
            only(most.idempotence == Some(true), "enable.idempotence=false"),
            only(
                most.isolation == Some(Isolation::ReadCommitted),
                "isolation.level=read_uncommitted",
            ),
            (1..most.min_insync_replicas.unwrap_or(1))
                .rev()
                .map(|least| format!("min.insync.replicas={least}"))
                .collect(),
            only(most.unclean_election == Some(false), "unclean.leader.election.enable=true"),
            // What Kafka does unless it is told otherwise.
            only(most.flush_messages == Some(1), "flush.messages=9223372036854775807"),
        ];
        Self { promised: most, said: said.clone(), weaker }
    }

    /// Every change, of few steps first.
    pub(super) fn changes(&self) -> Vec<Change> {
        let mut changes = vec![[0; SETTINGS]];
        for (setting, weaker) in self.weaker.iter().enumerate() {
            let with = |change: &Change, steps| {
                let mut change = *change;
                change[setting] = steps;
                change
            };
            let all = changes.iter();
            changes = all.flat_map(|c| (0..=weaker.len()).map(move |n| with(c, n))).collect();
        }
        changes.retain(|change| *change != [0; SETTINGS]);
        changes.sort_by_key(|change| change.iter().sum::<usize>());
        changes
    }

    /// The least that one setting can be, alone; none where it is that already.
    pub(super) fn alone(&self, setting: usize) -> Option<Change> {
        let mut change = [0; SETTINGS];
        change[setting] = self.weaker[setting].len();
        (change[setting] > 0).then_some(change)
    }

    /// What a change promises instead, alone.
    pub(super) fn changed(&self, change: &Change) -> Promise {
        self.set(Promise::default(), change)
    }

    /// What the user said, with a change.
    pub(super) fn with(&self, change: &Change) -> Promise {
        self.set(self.said.clone(), change)
    }

    fn set(&self, mut promise: Promise, change: &Change) -> Promise {
        for (weaker, steps) in self.weaker.iter().zip(change) {
            if let Some(text) = steps.checked_sub(1).map(|nth| &weaker[nth]) {
                promise.set(text).expect("every value fits its setting");
            }
        }
        promise
    }
}

fn only(is_promised: bool, weaker: &str) -> Vec<String> {
    if is_promised { vec![weaker.to_owned()] } else { Vec::new() }
}

fn weaker_acks(acks: Option<Acks>) -> Vec<String> {
    let all = ["acks=1", "acks=0"].map(str::to_owned);
    match acks {
        Some(Acks::All) | None => all.to_vec(),
        Some(Acks::One) => all[1..].to_vec(),
        Some(Acks::Zero) => Vec::new(),
    }
}

/// The most that the run, a topic or a session was promised.
fn most(run: &Promise, topics: &[&Promise], index: &Index) -> Promise {
    let sessions = index.processes.clients.iter().map(|client| Promise {
        acks: client.acks,
        idempotence: client.idempotence,
        isolation: client.isolation,
        ..Promise::default()
    });
    let topics = topics.iter().map(|topic| (*topic).clone());
    topics.chain(sessions).fold(run.clone(), |most, one| stronger(&most, &one))
}

/// Setting by setting what promises more.
fn stronger(one: &Promise, other: &Promise) -> Promise {
    let is_committed = |isolation: &Isolation| *isolation == Isolation::ReadCommitted;
    let isolations = [one.isolation, other.isolation].into_iter().flatten();
    let uncleans = [one.unclean_election, other.unclean_election].into_iter().flatten();
    let flushes = [one.flush_messages, other.flush_messages].into_iter().flatten();
    Promise {
        acks: [one.acks, other.acks].into_iter().flatten().max_by_key(|acks| rank(*acks)),
        idempotence: one.idempotence.max(other.idempotence),
        isolation: isolations.clone().find(is_committed).or(one.isolation).or(other.isolation),
        min_insync_replicas: one.min_insync_replicas.max(other.min_insync_replicas),
        unclean_election: uncleans.min(),
        flush_messages: flushes.min(),
        extra: serde_json::Map::new(),
    }
}

fn rank(acks: Acks) -> u8 {
    match acks {
        Acks::Zero => 0,
        Acks::One => 1,
        Acks::All => 2,
    }
}
