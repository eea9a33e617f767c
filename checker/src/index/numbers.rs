//! Numbers to positions in order: a list of those that rise, a hash table of positions for the
//! others, a tree for what collides too often.

use std::collections::BTreeMap;

use super::gently;

/// Maps numbers to positions 0, 1, 2, ... A position takes four to eight bytes beside the number.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The number at each position.
    all: Vec<i64>,
    /// Positions of numbers that were higher than all before them, as those of a counter are.
    rising: Vec<u32>,
    /// Positions of other numbers by hash, `NONE` where nothing is; a power of two of them, or none
    /// at all.
    slots: Vec<u32>,
    /// Numbers whose places were all taken: only somebody who chose them for it has many.
    crowded: BTreeMap<i64, u32>,
}

const NONE: u32 = u32::MAX;
/// Slots looked at for one number.
const PROBES: usize = 64;
const FIRST_SLOTS: usize = 16;
/// 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number at a position.
    pub fn at(&self, position: u32) -> i64 {
        self.all[position as usize]
    }

    /// How many numbers are, from the front on, those at the positions from one on.
    pub fn same(&self, first: u32, numbers: &[i64]) -> usize {
        let all = self.all[first as usize..].iter();
        all.zip(numbers).take_while(|(known, number)| known == number).count()
    }

    /// The position of a number.
    pub fn get(&self, number: i64) -> Option<u32> {
        if let Some(position) = self.find_rising(number) {
            return Some(position);
        }
        match self.slot(number) {
            Slot::Holds(position) => Some(position),
            Slot::Free(_) => None,
            Slot::Crowded => self.crowded.get(&number).copied(),
        }
    }

    /// The position of a number, and whether it is new.
    pub fn intern(&mut self, number: i64) -> (u32, bool) {
        let position = u32::try_from(self.all.len()).expect("fewer than 2^32 numbers");
        if self.rising.last().is_none_or(|last| self.at(*last) < number) {
            gently::push(&mut self.rising, position);
        } else if let Some(position) = self.get(number) {
            return (position, false);
        } else {
            self.put_by_hash(number, position);
        }
        gently::push(&mut self.all, number);
        (position, true)
    }

    /// Gives back what was taken for numbers that did not come.
    pub fn shrink(&mut self) {
        self.all.shrink_to_fit();
        self.rising.shrink_to_fit();
    }

    /// Looks where the number would be if all rose evenly, and from there in steps that double.
    fn find_rising(&self, number: i64) -> Option<u32> {
        let (first, last) = (self.at(*self.rising.first()?), self.at(*self.rising.last()?));
        if number < first || number > last {
            return None;
        }
        let end = self.rising.len() - 1;
        let share = above(first, number) / above(first, last).max(1.0);
        let guess = ((share * end as f64) as usize).min(end);
        let (mut from, mut to, mut step) = (guess, guess, 1);
        while self.at(self.rising[from]) > number {
            (from, step) = (from.saturating_sub(step), step * 2);
        }
        while self.at(self.rising[to]) < number {
            (to, step) = ((to + step).min(end), step * 2);
        }
        let nearby = &self.rising[from..=to];
        let nth = nearby.binary_search_by_key(&number, |position| self.at(*position)).ok()?;
        Some(nearby[nth])
    }

    fn put_by_hash(&mut self, number: i64, position: u32) {
        // A third stays free.
        let hashed = self.all.len() - self.rising.len();
        if (hashed + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        match self.slot(number) {
            Slot::Free(at) => self.slots[at] = position,
            Slot::Holds(_) => unreachable!("a new number stands nowhere"),
            Slot::Crowded => drop(self.crowded.insert(number, position)),
        }
    }

    fn slot(&self, number: i64) -> Slot {
        if self.slots.is_empty() {
            return Slot::Crowded;
        }
        let mask = self.slots.len() - 1;
        let first = home(number, self.slots.len());
        for at in (first..first + PROBES).map(|at| at & mask) {
            let position = self.slots[at];
            if position == NONE {
                return Slot::Free(at);
            }
            if self.all[position as usize] == number {
                return Slot::Holds(position);
            }
        }
        Slot::Crowded
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let hashed = std::mem::replace(&mut self.slots, vec![NONE; slots]);
        let crowded = std::mem::take(&mut self.crowded).into_values();
        for position in hashed.into_iter().filter(|position| *position != NONE).chain(crowded) {
            let number = self.at(position);
            match self.slot(number) {
                Slot::Free(at) => self.slots[at] = position,
                Slot::Holds(_) => unreachable!("every number stands once"),
                Slot::Crowded => drop(self.crowded.insert(number, position)),
            }
        }
    }
}

/// How far one number is above another, about.
fn above(low: i64, high: i64) -> f64 {
    high.wrapping_sub(low) as u64 as f64
}

/// Where a number's places begin: Fibonacci's multiplier spreads numbers that stand close together,
/// and its product's high bits are the best.
fn home(number: i64, slots: usize) -> usize {
    ((number as u64).wrapping_mul(MULTIPLIER) >> (u64::BITS - slots.trailing_zeros())) as usize
}

/// What the places of a number hold.
enum Slot {
    Holds(u32),
    Free(usize),
    Crowded,
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn numbers_keep_the_positions_that_they_came_with(
            numbers in vec(
                prop_oneof![0i64..300, (0i64..300).prop_map(|nth| nth * 20), any::<i64>()],
                0..400,
            ),
        ) {
            let mut interned = Numbers::default();
            let mut order: Vec<i64> = Vec::new();
            for number in numbers {
                let known = order.iter().position(|known| *known == number);
                let expected = known.unwrap_or(order.len()) as u32;
                prop_assert_eq!(interned.get(number), known.map(|at| at as u32));
                prop_assert_eq!(interned.intern(number), (expected, known.is_none()));
                if known.is_none() {
                    order.push(number);
                }
            }
            let all: Vec<i64> = (0..interned.len() as u32).map(|at| interned.at(at)).collect();
            prop_assert_eq!(all, order);
        }
    }

    #[test]
    fn numbers_that_share_their_places_are_found_all_the_same() {
        let slots = 256;
        let crowded = (1_000..1_i64 << 20).filter(|number| home(*number, slots) == 5);
        let numbers: Vec<i64> = std::iter::once(i64::MAX).chain(crowded.take(120)).collect();
        let mut interned = Numbers::default();
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.intern(*number), (nth as u32, true));
        }
        assert_eq!(interned.slots.len(), slots);
        assert!(interned.crowded.len() > 50);
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.get(*number), Some(nth as u32));
        }
    }

    #[test]
    fn numbers_that_rise_need_no_hash() {
        let mut interned = Numbers::default();
        for number in [i64::MIN, -5, 7, 8, 9, 300, 1 << 40, i64::MAX] {
            let (position, _) = interned.intern(number);
            assert_eq!(interned.get(number), Some(position));
        }
        assert!(interned.slots.is_empty());
    }
}
