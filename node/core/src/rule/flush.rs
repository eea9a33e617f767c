//! Contract c.1.4: when records are synced before they count.

/// Contract c.1.4 as an entry of the table.
pub type FlushAfter = fn(flush_messages: i64) -> i64;

/// After how many records the log is synced before the newest of them counts: `flush.messages`,
/// so with 1 no record counts that a power loss could take.
pub fn flush_after(flush_messages: i64) -> i64 {
    flush_messages
}
