//! Numbers to positions in order: a hash table of positions, a tree for what collides too often.

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
const NEIGHBOURS_BITS: u32 = 8;
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

/// Where a number's places begin. Numbers near each other have places near each other, since
/// whoever asks for one asks for its neighbours next; Fibonacci's multiplier spreads the
/// neighbourhoods, and its product's high bits are the best.
fn home(number: i64, slots: usize) -> usize {
    let neighbourhood = (number >> NEIGHBOURS_BITS) as u64;
    let within = number as usize & ((1 << NEIGHBOURS_BITS) - 1);
    let spread = neighbourhood.wrapping_mul(MULTIPLIER) >> (u64::BITS - slots.trailing_zeros());
    spread as usize + within
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
        let slots = 2048;
        let neighbourhoods = (0..1_i64 << 20).map(|nth| nth << NEIGHBOURS_BITS);
        let crowded = neighbourhoods.filter(|number| home(*number, slots) == 5).take(4);
        let numbers: Vec<i64> = crowded.flat_map(|first| first..first + 250).collect();
        let mut interned = Numbers::default();
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.intern(*number), (nth as u32, true));
        }
        assert_eq!(interned.slots.len(), slots);
        assert!(interned.crowded.len() > 100);
        for (nth, number) in numbers.iter().enumerate() {
            assert_eq!(interned.get(*number), Some(nth as u32));
        }
    }
}
