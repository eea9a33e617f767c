//! Numbers to positions: a vector while they are dense, a tree for outliers.

use std::collections::BTreeMap;

/// Maps numbers to positions given in order 0, 1, 2, ...
#[derive(Debug, Default)]
pub struct DenseIndex {
    dense: Vec<u32>,
    sparse: BTreeMap<i64, u32>,
    len: u32,
}

const NONE: u32 = u32::MAX;

impl DenseIndex {
    /// The vector may be this many times as long as there are numbers.
    const SPREAD: usize = 16;
    /// And longer by this, so that a few numbers may be anywhere near zero.
    const HEAD: usize = 4096;

    /// The position of a number.
    pub fn get(&self, number: i64) -> Option<u32> {
        let dense = usize::try_from(number).ok().and_then(|at| self.dense.get(at));
        match dense {
            Some(&position) if position != NONE => Some(position),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&number).copied(),
        }
    }

    /// Gives back what was taken for numbers that did not come.
    pub fn shrink(&mut self) {
        self.dense.shrink_to_fit();
    }

    /// The position of a number, and whether it is new.
    pub fn intern(&mut self, number: i64) -> (u32, bool) {
        if let Some(position) = self.get(number) {
            return (position, false);
        }
        let position = self.len;
        assert!(position < NONE, "fewer than 2^32 numbers");
        self.len += 1;
        let limit = Self::SPREAD * position as usize + Self::HEAD;
        match usize::try_from(number) {
            Ok(at) if at < limit => {
                if at >= self.dense.len() {
                    self.dense.resize(at + 1, NONE);
                }
                self.dense[at] = position;
            }
            _ => {
                self.sparse.insert(number, position);
            }
        }
        (position, true)
    }
}
