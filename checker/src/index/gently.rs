//! Vectors that grow by an eighth once they are big: most of a big index is in a few vectors.

/// Adds an element; room for those to come is taken for as many as there are, in a big vector for
/// an eighth of them.
pub fn push<T>(all: &mut Vec<T>, element: T) {
    /// What doubles costs more memory than copying costs time from here on.
    const BIG: usize = 1 << 14;
    const LEAST: usize = 8;
    let many = all.len();
    if many == all.capacity() {
        all.reserve_exact(if many < BIG { many.max(LEAST) } else { many / 8 });
    }
    all.push(element);
}
