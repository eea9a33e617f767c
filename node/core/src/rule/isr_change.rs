//! Rule 22: what the leader believes while the controller's answer to an ISR change is outstanding.

use std::collections::BTreeSet;

use crate::types::BrokerId;

/// Rule 22: the ISR that the leader goes on with after it proposed a removal.
pub type WhileShrinking = fn(committed: &[BrokerId], proposed: &[BrokerId]) -> Vec<BrokerId>;

/// Rule 16: the ISR that the high watermark and acknowledgements answer to.
pub type MaximalIsr = fn(committed: &[BrokerId], proposed: &[BrokerId]) -> BTreeSet<BrokerId>;

/// A removal takes effect when the controller has committed it, never before.
pub fn while_shrinking(committed: &[BrokerId], _proposed: &[BrokerId]) -> Vec<BrokerId> {
    committed.to_vec()
}

/// The committed ISR and a pending addition; a pending removal still counts.
pub fn maximal_isr(committed: &[BrokerId], proposed: &[BrokerId]) -> BTreeSet<BrokerId> {
    committed.iter().chain(proposed).copied().collect()
}
