//! Vectors that grow by an eighth: most of a big index is in a few vectors.

/// Adds an element; for those to come an eighth of what there is is taken, not as much again.
pub fn push<T>(all: &mut Vec<T>, element: T) {
    const LEAST: usize = 64;
    if all.len() == all.capacity() {
        all.reserve_exact((all.len() / 8).max(LEAST));
    }
    all.push(element);
}
