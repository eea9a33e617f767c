//! Work on all cores whose results stand in order, whoever did what.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The result for each item, in their order.
pub(crate) fn each<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((nth, item)) = next_of(items, &next) {
            done.push((nth, work(item)));
        }
        done
    };
    let mut done = on_all_cores(items.len(), &take);
    done.sort_unstable_by_key(|(nth, _)| *nth);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Changes each item.
pub(crate) fn change<I: Send>(items: &mut [I], work: impl Fn(&mut I) + Sync) {
    let many = items.len();
    let left = Mutex::new(items.iter_mut());
    let take = || {
        loop {
            let item = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = item else { return Vec::<()>::new() };
            work(item);
        }
    };
    on_all_cores(many, &take);
}

fn next_of<'a, I>(items: &'a [I], next: &AtomicUsize) -> Option<(usize, &'a I)> {
    let nth = next.fetch_add(1, Ordering::Relaxed);
    items.get(nth).map(|item| (nth, item))
}

fn on_all_cores<T: Send>(items: usize, take: &(impl Fn() -> Vec<T> + Sync)) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(items)).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1_000).collect();
        let squares = each(&items, |item| item * item);
        assert!(squares.iter().zip(&items).all(|(square, item)| *square == item * item));
        assert_eq!((each(&[0_u8; 0], |_| 1_u8), squares.len()), (vec![], 1_000));
    }

    #[test]
    fn every_item_is_changed_once() {
        let mut items: Vec<u64> = (0..1_000).collect();
        change(&mut items, |item| *item += 1);
        assert_eq!(items, (1..=1_000).collect::<Vec<_>>());
    }
}
