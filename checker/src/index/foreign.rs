//! What a part keeps of the keys of other parts: which values were sent and which were read.
//!
//! That no value is sent twice is checked by every part, so that all stop at the same line; and an
//! operation that sent to keys of several parts is certain when any of its records was read.

use std::collections::BTreeSet;

use highwater_history::Value;

use super::{
    KeyId,
    operations::{OpId, Operations},
};

/// The keys of other parts.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    keys: Vec<ForeignKey>,
    /// Records of operations that sent several and whose end is unknown.
    uncertain: Vec<(OpId, KeyId, Value)>,
}

#[derive(Debug, Default)]
struct ForeignKey {
    sent: Values,
    /// What ok polls returned.
    ok_read: Values,
}

impl Foreign {
    /// Notes that a value was sent; false when it was sent before.
    pub(super) fn send(&mut self, key: KeyId, value: Value) -> bool {
        self.key(key).sent.insert(value)
    }

    /// Notes what an ok poll returned.
    pub(super) fn ok_read(&mut self, key: KeyId, read: impl Iterator<Item = Value>) {
        let of_key = self.key(key);
        for value in read {
            of_key.ok_read.insert(value);
        }
    }

    /// Notes a record of an operation whose end is unknown.
    pub(super) fn uncertain(&mut self, op: OpId, key: KeyId, value: Value) {
        self.uncertain.push((op, key, value));
    }

    /// Decides which operations are certain, once all reads are known.
    pub(super) fn settle(self, ops: &mut Operations) {
        for (op, key, value) in self.uncertain {
            if self.keys[key as usize].ok_read.contains(value) {
                ops.get_mut(op).some_ok_read = true;
            }
        }
    }

    fn key(&mut self, key: KeyId) -> &mut ForeignKey {
        let at = key as usize;
        if at >= self.keys.len() {
            self.keys.resize_with(at + 1, ForeignKey::default);
        }
        &mut self.keys[at]
    }
}

/// A set of values: a bit each while they are dense, a tree for outliers.
#[derive(Debug, Default)]
struct Values {
    words: Vec<u64>,
    sparse: BTreeSet<Value>,
    len: usize,
}

impl Values {
    /// There may be this many bits as there are values.
    const SPREAD: usize = 64;
    /// And more by this, so that a few values may be anywhere near zero.
    const HEAD: usize = 4096;

    /// Adds a value; false when it is there.
    fn insert(&mut self, value: Value) -> bool {
        if self.contains(value) {
            return false;
        }
        let limit = Self::SPREAD * self.len + Self::HEAD;
        self.len += 1;
        match usize::try_from(value) {
            Ok(at) if at < limit => {
                if at / 64 >= self.words.len() {
                    self.words.resize(at / 64 + 1, 0);
                }
                self.words[at / 64] |= 1 << (at % 64);
            }
            _ => {
                self.sparse.insert(value);
            }
        }
        true
    }

    fn contains(&self, value: Value) -> bool {
        let word = usize::try_from(value).ok().and_then(|at| self.words.get(at / 64));
        let bit = 1 << (value as u64 % 64);
        word.is_some_and(|word| word & bit != 0)
            || (!self.sparse.is_empty() && self.sparse.contains(&value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn a_set_of_values_is_a_set(
            values in vec(prop_oneof![any::<Value>(), -5i64..200, 3_000i64..9_000], 0..300),
        ) {
            let (mut set, mut known) = (Values::default(), BTreeSet::new());
            for value in values {
                prop_assert_eq!(set.contains(value), known.contains(&value));
                prop_assert_eq!(set.insert(value), known.insert(value));
                prop_assert!(set.contains(value));
            }
        }
    }
}
