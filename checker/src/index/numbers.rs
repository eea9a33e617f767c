//! Numbers to positions given in order: a hash table of positions, a tree for what collides too often.

use std::collections::BTreeMap;

use super::gently;

/// Maps numbers to positions 0, 1, 2, ... A position takes four to eight bytes beside the number.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The number at each position.
    all: Vec<i64>,
    /// Positions by hash, `NONE` where nothing is; a power of two of them, or none at all.
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

    /// The position of a number.
    pub fn get(&self, number: i64) -> Option<u32> {
        match self.slot(number) {
            Slot::Holds(position) => Some(position),
            Slot::Free(_) => None,
            Slot::Crowded => self.crowded.get(&number).copied(),
        }
    }

    /// The position of a number, and whether it is new.
    pub fn intern(&mut self, number: i64) -> (u32, bool) {
        // A quarter stays free.
        if self.all.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let position = u32::try_from(self.all.len()).expect("fewer than 2^32 numbers");
        match self.slot(number) {
            Slot::Holds(position) => return (position, false),
            Slot::Free(at) => self.slots[at] = position,
            Slot::Crowded => match self.crowded.get(&number) {
                Some(position) => return (*position, false),
                None => drop(self.crowded.insert(number, position)),
            },
        }
        gently::push(&mut self.all, number);
        (position, true)
    }

    /// Gives back what was taken for numbers that did not come.
    pub fn shrink(&mut self) {
        self.all.shrink_to_fit();
    }

    fn slot(&self, number: i64) -> Slot {
        if self.slots.is_empty() {
            return Slot::Crowded;
        }
        let mask = self.slots.len() - 1;
        // Fibonacci's multiplier spreads numbers that rise by one or by the same step; its product's
        // high bits are the best.
        let product = (number as u64).wrapping_mul(MULTIPLIER);
        let first = (product >> (u64::BITS - self.slots.len().trailing_zeros())) as usize;
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
        self.slots = vec![NONE; slots];
        self.crowded.clear();
        for position in 0..self.all.len() as u32 {
            let number = self.at(position);
            match self.slot(number) {
                Slot::Free(at) => self.slots[at] = position,
                Slot::Holds(_) => unreachable!("every number stands once"),
                Slot::Crowded => drop(self.crowded.insert(number, position)),
            }
        }
    }
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
            numbers in vec(prop_oneof![0i64..300, any::<i64>()], 0..400),
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
        // Their products are small: all high bits are zero.
        let inverse = inverse_of_the_multiplier();
        let numbers: Vec<i64> =
            (0..1_000).map(|nth: u64| nth.wrapping_mul(inverse) as i64).collect();
        let mut interned = Numbers::default();
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.intern(*number), (nth as u32, true));
        }
        assert!(!interned.crowded.is_empty());
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.get(*number), Some(nth as u32));
        }
    }

    fn inverse_of_the_multiplier() -> u64 {
        (0..6).fold(MULTIPLIER, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
        })
    }
}
