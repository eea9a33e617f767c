//! Rule 46: producer ids are unique for the cluster's life.

/// How many producer ids a broker gets at once.
pub const BLOCK_LEN: i32 = 1000;

/// The type of [`after_block`].
pub type AfterBlock = fn(i64) -> i64;

/// The first id of the block after the one that starts at `next`: what the record of the
/// allocation must hold before the block is given away.
pub fn after_block(next: i64) -> i64 {
    next + i64::from(BLOCK_LEN)
}
