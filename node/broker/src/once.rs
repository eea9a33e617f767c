//! What a request asks for more than once is answered once: small requests have small answers.

use std::collections::BTreeSet;

/// The first item of each key, in their order.
pub(crate) fn firsts<'a, T: 'a, K: Ord>(
    items: impl Iterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> impl Iterator<Item = &'a T> {
    let mut seen = BTreeSet::new();
    items.filter(move |item| seen.insert(key(item)))
}
