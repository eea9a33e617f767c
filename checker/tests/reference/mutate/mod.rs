//! Random changes of a history: what a broken log, client or recorder might have written.

mod groups;
mod offsets;
mod operations;
mod reads;
mod sends;

use highwater_history::Event;
use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// A change of some events; it may find nothing to change.
type Change = fn(&mut [Event], &mut ChaCha8Rng);

/// A change that may drop or add events.
type Restructuring = fn(&mut Vec<Event>, &mut ChaCha8Rng);

const CHANGES: &[Change] = &[
    reads::swap_read_values,
    reads::change_read_offset,
    reads::forget_read_offset,
    reads::forget_offsets_of_a_key,
    reads::drop_read,
    reads::empty_poll,
    reads::repeat_read,
    reads::reorder_poll,
    reads::read_from_another_key,
    reads::read_what_is_sent,
    sends::change_ack,
    sends::give_offset_again,
    sends::send_another_value,
    sends::send_twice,
    operations::change_outcome,
    operations::change_process,
    operations::forget_value,
    operations::note_rebalance,
    groups::give_record_keys,
];

const RESTRUCTURINGS: &[Restructuring] = &[
    operations::crash,
    operations::forget_operation,
    operations::change_assignment,
    groups::commit,
    offsets::ask_committed,
    offsets::ask_ends,
];

/// Changes a history one to four times, and numbers its events again.
pub fn mutate(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..=4) {
        let nth = rng.random_range(0..CHANGES.len() + RESTRUCTURINGS.len());
        match CHANGES.get(nth) {
            Some(change) => change(events, rng),
            None => RESTRUCTURINGS.choose(rng).expect("there are some")(events, rng),
        }
    }
    renumber(events);
}

/// Indexes from 0 without gaps, as a whole history has them; times stay.
pub fn renumber(events: &mut [Event]) {
    for (nth, event) in events.iter_mut().enumerate() {
        event.index = nth as u64;
    }
}

/// One element of a list, by chance.
fn any<T>(list: Vec<T>, rng: &mut ChaCha8Rng) -> Option<T> {
    let nth = rng.random_range(0..list.len().max(1));
    list.into_iter().nth(nth)
}
