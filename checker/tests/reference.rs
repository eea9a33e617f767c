//! Two checkers of bare histories, written apart from each other, agree on small random ones.

#[path = "reference/mod.rs"]
mod reference;

use std::{collections::BTreeMap, ops::Range};

use highwater_checker::{
    Evidence, Options, check,
    claim::{Decides, TABLE},
};
use highwater_history::{
    Event, Promise,
    verdict::{Judgement, Validity},
};
use reference::{
    case::Case,
    cycles::CYCLES,
    inject::{Field, INJECTORS},
    judge::{CLASSES, Judged, judge},
    model,
    twist::TWISTS,
};

/// How soon a wrong reference has to be found out.
const SOON: Range<u64> = 0..10_000;

/// Both checkers agree on every seed.
fn agree(seeds: Range<u64>) {
    for seed in seeds {
        let case = Case::of(seed);
        if !case.agrees(&case.by_reference()) {
            panic!("{}", case.disagreement(seed));
        }
    }
}

#[test]
fn both_checkers_agree_on_the_first_fifty_thousand_histories() {
    agree(0..50_000);
}

#[test]
fn both_checkers_agree_on_the_next_fifty_thousand_histories() {
    agree(50_000..100_000);
}

/// Repeats one seed, as a disagreement tells: `SEED=17 cargo test ... one_seed`.
#[test]
fn one_seed() {
    let seed = std::env::var("SEED").map_or(0, |seed| seed.parse().expect("SEED is a number"));
    agree(seed..seed + 1);
}

/// Whether some seed shows that a reference is wrong.
fn found_out(wrong: impl Fn(&Case) -> Judged) -> bool {
    SOON.map(Case::of).any(|case| !case.agrees(&wrong(&case)))
}

#[test]
fn a_reference_that_reads_a_rule_otherwise_disagrees() {
    for (rule, twist) in TWISTS {
        let twisted = |case: &Case| {
            let mut case = case.clone();
            twist(&mut case);
            case.by_reference()
        };
        assert!(found_out(twisted), "{rule}");
    }
}

/// What a bare history can only show as permitted: normal, or not decided by one clock.
const NEVER_A_VIOLATION: &[&str] = &[
    "int-send-skip",
    "send-to-the-past",
    "read-of-the-future",
    "stale-commit",
    "G0",
    "G0-process",
    "G0-realtime",
    "G1c-realtime",
];

/// What no promise permits.
const NEVER_PERMITTED: &[&str] = &[
    "phantom-read",
    "int-nonmonotonic-poll",
    "reread-mismatch",
    "successor-mismatch",
    "ack-in-the-past",
    "key-on-two-partitions",
];

#[test]
fn a_reference_without_a_class_disagrees() {
    for class in CLASSES.iter().map(|(class, _)| *class).chain(CYCLES.iter().copied()) {
        let without = |case: &Case| {
            let mut judged = case.by_reference();
            judged.anomalies.remove(class);
            judged
        };
        let permitted = |case: &Case| {
            let mut judged = case.by_reference();
            judged.permitted.remove(class);
            judged
        };
        assert!(NEVER_A_VIOLATION.contains(&class) || found_out(without), "{class}");
        assert!(NEVER_PERMITTED.contains(&class) || found_out(permitted), "permitted {class}");
    }
}

/// What correct logs show is valid, and enough of it is not empty.
#[test]
fn what_the_model_shows_is_valid() {
    let mut verdicts: BTreeMap<Validity, u64> = BTreeMap::new();
    for seed in SOON {
        let judged = judge(&model::history(seed, true), &Promise::default());
        assert!(judged.anomalies.is_empty(), "seed {seed}: {judged:?}");
        *verdicts.entry(judged.verdicts[0]).or_default() += 1;
    }
    assert!(verdicts[&Validity::Valid] > 6_000, "{verdicts:?}");
}

/// Where unclean elections are allowed and no metadata log tells of them, what they may have done
/// is not decided: neither an accusation nor valid. All else is counted.
#[test]
fn unclean_elections_that_nobody_tells_of_leave_findings_undecided() {
    let mut undecided = 0;
    for seed in 0..5_000 {
        let mut case = Case::of(seed);
        case.promise.unclean_election = Some(true);
        let (checker, reference) = (case.by_checker(), case.by_reference());
        if case.agrees(&reference) {
            continue;
        }
        undecided += 1;
        let all = |(class, n): (&String, &u64)| reference.anomalies.get(class) >= Some(n);
        let told = || format!("seed {seed}\n{checker:?}\n{reference:?}\n{}", case.lines());
        assert!(checker.anomalies.iter().all(all), "{}", told());
        assert_eq!(checker.permitted, reference.permitted, "{}", told());
        let verdict = checker.verdicts[0];
        let broken =
            if checker.anomalies.is_empty() { Validity::Unknown } else { Validity::Invalid };
        assert_eq!(verdict, broken, "{}", told());
    }
    assert!(undecided > 500, "only {undecided} were undecided");
}

/// What is put into a valid history is counted exactly by both checkers, and nothing else is found
/// by any claim.
#[test]
fn injected_anomalies_are_counted_and_nothing_else_is_found() {
    for (class, inject) in INJECTORS {
        let mut injected = 0;
        for seed in 0..500 {
            let mut field = Field::of(seed);
            let before = Case::unpromised(field.events.clone()).by_reference();
            let n = 1 + seed as usize % 3;
            let Some(expected) = inject(&mut field, n) else { continue };
            injected += 1;
            let case = Case::unpromised(field.events);
            let reference = case.by_reference();
            let lines = || format!("{class}, seed {seed}, n {n}:\n{}", case.lines());
            let wanted = expected.counts();
            assert_eq!(case.by_checker().anomalies, wanted, "checker, {}", lines());
            assert_eq!(reference.anomalies, wanted, "reference, {}", lines());
            assert!(case.agrees(&reference), "{}", lines());
            for (permitted, more) in &expected.permitted {
                let count = |judged: &Judged| judged.permitted.get(*permitted).copied();
                let before = count(&before).unwrap_or(0);
                assert_eq!(count(&reference), Some(before + more), "{}", lines());
            }
        }
        assert!(injected > 100, "{class}: only {injected} histories have a place for it");
    }
}

/// The claims whose violations are final that a history violates; none of an unfit one.
fn violated_for_good(events: &[Event]) -> Option<Vec<String>> {
    let claims = TABLE.iter().filter(|(.., entry)| entry.decides == Decides::BeforeTheEnd);
    let claims = Some(claims.map(|(name, ..)| (*name).to_owned()).collect());
    let options = Options { claims, ..Options::default() };
    let verdict = check(&Evidence::of_events(events.to_vec()), &options).expect("it is judged");
    let is_unfit = verdict.claims.iter().all(|claim| claim.verdict == Judgement::Unknown);
    let violated = verdict.claims.into_iter().filter(|claim| claim.verdict == Judgement::Invalid);
    (!is_unfit).then(|| violated.map(|claim| claim.claim).collect())
}

/// What may end the judgement of a history that is still written is found in the whole history.
#[test]
fn what_is_final_before_the_end_is_found_at_the_end() {
    let mut early = 0;
    for seed in SOON {
        let events = Case::of(seed).events;
        let Some(at_end) = violated_for_good(&events) else { continue };
        for part in [events.len() / 3, events.len() * 2 / 3] {
            let before = violated_for_good(&events[..part]).expect("a part is as fit");
            early += usize::from(!before.is_empty());
            let told = || format!("seed {seed}: {before:?} after {part} events, then {at_end:?}");
            assert!(before.is_empty() || !at_end.is_empty(), "{}", told());
        }
    }
    assert!(early > 500, "only {early} were violated before the end");
}
