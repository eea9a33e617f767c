//! Rule 5: what the epoch cache answers.

use crate::replica::{EpochCache, EpochEnd};
use crate::types::{LeaderEpoch, Offset};

fn cache(entries: &[(i32, i64)]) -> EpochCache {
    EpochCache::new(entries.iter().map(|(e, s)| (LeaderEpoch(*e), Offset(*s))).collect())
}

fn end(cache: &EpochCache, asked: i32, log_end: i64) -> Option<(i32, i64)> {
    let end = cache.end_of(LeaderEpoch(asked), Offset(log_end));
    end.map(|EpochEnd { epoch, end }| (epoch.0, end.0))
}

#[test]
fn rule_05_epochs_without_records_answer_the_largest_lower_one() {
    let cache = cache(&[(0, 0), (3, 4)]);
    assert_eq!(end(&cache, 0, 9), Some((0, 4)));
    assert_eq!(end(&cache, 1, 9), Some((0, 4)));
    assert_eq!(end(&cache, 2, 9), Some((0, 4)));
    assert_eq!(end(&cache, 3, 9), Some((3, 9)), "the newest ends at the log end");
}

#[test]
fn rule_05_outside_of_the_known_epochs() {
    let known = cache(&[(4, 10), (6, 20)]);
    assert_eq!(end(&known, 2, 30), Some((2, 10)), "below the first: the start of the first");
    assert_eq!(end(&known, 7, 30), None, "above the newest");
    assert_eq!(end(&known, -1, 30), None, "no epoch");
    assert_eq!(end(&cache(&[]), 0, 30), None, "nothing known");
}

#[test]
fn rule_05_the_next_epoch_replaces_one_that_wrote_nothing() {
    let mut epochs = cache(&[(1, 0)]);
    epochs.assign(LeaderEpoch(2), Offset(5));
    epochs.assign(LeaderEpoch(2), Offset(5));
    epochs.assign(LeaderEpoch(4), Offset(5));
    assert_eq!(epochs, cache(&[(1, 0), (4, 5)]));
}

#[test]
fn rule_05_a_cut_at_the_log_end_trims_the_epoch_that_starts_there() {
    let mut epochs = cache(&[(1, 0), (4, 5)]);
    epochs.truncate(Offset(5));
    assert_eq!(epochs, cache(&[(1, 0)]));
    epochs.truncate(Offset(3));
    assert_eq!(epochs, cache(&[(1, 0)]), "an epoch that began below the cut stays");
}
