//! Takes away what a finding does without.

use super::{probe::Probe, trim, unit::Unit};

/// The least of some operations that show a finding: none can be taken away, and of none a part;
/// unless that takes more questions than are allowed for so many.
pub(super) fn least(probe: &mut Probe<'_>, mut found: Vec<Unit>) -> Vec<Unit> {
    probe.allow(found.len());
    loop {
        found = units(probe, found);
        let trimmed = trim::units(probe, &found);
        if trimmed == found {
            return found;
        }
        found = trimmed;
    }
}

/// The least of some operations that show a finding: none can be taken away.
pub(super) fn units(probe: &mut Probe<'_>, units: Vec<Unit>) -> Vec<Unit> {
    let own = |unit: &Unit| unit.events().any(|e| probe.sought.events.contains(&e.index));
    let (own, others): (Vec<Unit>, Vec<Unit>) = units.into_iter().partition(own);
    let all: Vec<Unit> = others.into_iter().chain(own).collect();
    let of = |kept: &[usize]| kept.iter().map(|nth| all[*nth].clone()).collect::<Vec<_>>();
    let kept = items((0..all.len()).collect(), |kept| {
        (!probe.has_given_up()).then(|| probe.stands(&of(kept)))
    });
    let mut kept = of(&kept);
    kept.sort_by_key(Unit::id);
    kept
}

/// Delta debugging by taking away: runs of items first, then ever shorter ones, then one by one
/// until none can go. What is left stands, and does not without any one of it; unless an answer
/// fails to come, which ends it.
pub(super) fn items<T: Clone>(
    mut items: Vec<T>,
    mut stands: impl FnMut(&[T]) -> Option<bool>,
) -> Vec<T> {
    let mut run = items.len();
    while run > 0 {
        let before = items.len();
        let mut at = 0;
        while at < items.len() {
            let end = (at + run).min(items.len());
            let rest = [&items[..at], &items[end..]].concat();
            match stands(&rest) {
                Some(true) => items = rest,
                Some(false) => at = end,
                None => return items,
            }
        }
        if run > 1 {
            run = run.div_ceil(2).min(items.len());
        } else if items.len() == before {
            break;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_set, prelude::*};

    use super::items;

    proptest! {
        /// Whatever has to stay stays, and nothing else does, in far fewer questions than items.
        #[test]
        fn what_stays_is_what_has_to(needed in btree_set(0usize..1000, 0..6)) {
            let mut asked = 0;
            let all: Vec<usize> = (0..1000).collect();
            let left = items(all, |kept| {
                asked += 1;
                Some(needed.iter().all(|item| kept.contains(item)))
            });
            prop_assert_eq!(left, needed.into_iter().collect::<Vec<_>>());
            prop_assert!(asked < 250, "{} questions", asked);
        }

        /// Where one of several would do, one is left.
        #[test]
        fn one_of_several_is_left(either in btree_set(0usize..100, 1..6)) {
            let left = items((0..100).collect(), |kept| {
                Some(kept.iter().any(|item| either.contains(item)))
            });
            prop_assert_eq!(left.len(), 1);
        }

        /// Whenever the answers end, what is left by then stands.
        #[test]
        fn what_is_left_when_answers_end_stands(
            needed in btree_set(0usize..100, 0..6), answers in 0usize..60,
        ) {
            let stands = |kept: &[usize]| needed.iter().all(|item| kept.contains(item));
            let mut left = answers;
            let items = items((0..100).collect(), |kept| {
                left = left.checked_sub(1)?;
                Some(stands(kept))
            });
            prop_assert!(stands(&items));
        }
    }
}
