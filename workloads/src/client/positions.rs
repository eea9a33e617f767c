//! Where a consumer stands on each key, and of which keys it has to ask where they begin.

use std::collections::{BTreeMap, BTreeSet};

use crate::Key;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At this offset.
    At(i64),
    /// At the log start, which only the leader knows.
    LogStart,
}

/// The assignment of one consumer.
///
/// A key begins at offset 0 until its leader calls a position out of range: then its beginning may
/// have been deleted, and from then on its leader is asked where it begins, as a consumer with
/// `auto.offset.reset=earliest` asks.
#[derive(Debug, Default)]
pub(super) struct Positions {
    by_key: BTreeMap<Key, Position>,
    may_begin_later: BTreeSet<Key>,
}

impl Positions {
    /// Replaces the assignment.
    pub(super) fn assign(&mut self, keys: &[Key], seek_to_beginning: bool) {
        let kept = |key: &Key| self.by_key.get(key).copied().filter(|_| !seek_to_beginning);
        let position = |key: &Key| kept(key).unwrap_or_else(|| self.beginning(*key));
        self.by_key = keys.iter().map(|key| (*key, position(key))).collect();
    }

    fn beginning(&self, key: Key) -> Position {
        if self.may_begin_later.contains(&key) { Position::LogStart } else { Position::At(0) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, Position)> {
        self.by_key.iter().map(|(key, position)| (*key, *position))
    }

    /// The key goes on at this offset.
    pub(super) fn move_to(&mut self, key: Key, offset: i64) {
        self.by_key.insert(key, Position::At(offset));
    }

    /// The position is none of the log's; it stays until the next assignment says what to do.
    pub(super) fn out_of_range(&mut self, key: Key) {
        self.may_begin_later.insert(key);
    }
}
