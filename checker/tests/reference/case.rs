//! One case: a history and promises that a seed gives, judged by both checkers.

use highwater_checker::{Evidence, Options, check};
use highwater_history::{
    Event, Promise,
    event::{Acks, Isolation},
};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    judge::{Judged, judge},
    model, mutate, shrink,
};

/// A history and what was promised.
#[derive(Clone)]
pub struct Case {
    pub events: Vec<Event>,
    pub promise: Promise,
}

impl Case {
    /// A quarter of the histories are as correct logs gave them; half are judged under other
    /// promises.
    pub fn of(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let closed = model::chance(&mut rng, 75);
        let mut events = model::history(seed, closed);
        if model::chance(&mut rng, 75) {
            mutate::mutate(&mut events, &mut rng);
        }
        let promise =
            if model::chance(&mut rng, 50) { promise(&mut rng) } else { Promise::default() };
        Self { events, promise }
    }

    /// A history that is judged by the most that can be promised.
    pub fn unpromised(events: Vec<Event>) -> Self {
        Self { events, promise: Promise::default() }
    }

    pub fn by_reference(&self) -> Judged {
        judge(&self.events, &self.promise)
    }

    /// What the fast checker says.
    pub fn by_checker(&self) -> Judged {
        let options = Options { promise: self.promise.clone(), ..Options::default() };
        let evidence = Evidence::of_events(self.events.clone());
        let verdict = check(&evidence, &options).expect("it is judged");
        Judged {
            anomalies: verdict.anomalies,
            permitted: verdict.permitted,
            verdicts: vec![verdict.verdict],
        }
    }

    /// Whether the checker says what the reference says; of an unfit history only the verdict is
    /// compared.
    pub fn agrees(&self, reference: &Judged) -> bool {
        let checker = self.by_checker();
        let counts = |judged: &Judged| (judged.anomalies.clone(), judged.permitted.clone());
        let same = *reference == Judged::unfit() || counts(&checker) == counts(reference);
        same && reference.verdicts.contains(&checker.verdicts[0])
    }

    /// The smallest case that is found in which they still disagree, as a person wants to see it.
    pub fn disagreement(self, seed: u64) -> String {
        let small = shrink::shrink(self, |case| !case.agrees(&case.by_reference()));
        let promise = serde_json::to_string(&small.promise).expect("a promise is JSON");
        let (checker, reference) = (small.by_checker(), small.by_reference());
        format!(
            "the checkers disagree on seed {seed}, which shrinks to\n{}\
             promises: {promise}\nchecker:   {checker:?}\nreference: {reference:?}\n\
             again: SEED={seed} cargo test -p highwater-checker --test reference one_seed",
            small.lines()
        )
    }

    /// The history as JSON lines.
    pub fn lines(&self) -> String {
        let line = |event| serde_json::to_string(event).expect("an event is JSON") + "\n";
        self.events.iter().map(line).collect()
    }
}

fn promise(rng: &mut ChaCha8Rng) -> Promise {
    let acks = [None, Some(Acks::Zero), Some(Acks::One), Some(Acks::All)];
    let isolation = [None, Some(Isolation::ReadCommitted), Some(Isolation::ReadUncommitted)];
    let idempotence = [None, Some(true), Some(false)];
    Promise {
        acks: *acks.choose(rng).expect("not empty"),
        idempotence: *idempotence.choose(rng).expect("not empty"),
        isolation: *isolation.choose(rng).expect("not empty"),
        min_insync_replicas: [None, Some(1)][rng.random_range(0..2)],
        flush_messages: [None, Some(1)][rng.random_range(0..2)],
        ..Promise::default()
    }
}
