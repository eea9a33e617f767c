//! Rules 16 and 17: when the leader's high watermark may rise, and how far.

use super::Rules;
use crate::types::Offset;

/// Rule 17: may the high watermark move with this many committed ISR members?
pub type MayAdvance = fn(committed_isr: usize, effective_min_isr: usize) -> bool;

/// Rule 16: must the high watermark wait for this follower?
pub type Counts = fn(&FollowerStanding) -> bool;

/// One follower as the leader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerStanding {
    /// The end of what it has confirmed; `None` until its first fetch from this leader.
    pub log_end: Option<Offset>,
    /// It is a member of the committed ISR, or of a pending addition (rule 16).
    pub in_maximal_isr: bool,
    /// It reached the leader's log end within the lag limit (rule 24).
    pub caught_up: bool,
    /// It could join the ISR as far as the metadata can tell (rule 23).
    pub eligible: bool,
}

/// The sizes that rule 17 compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsrSize {
    /// Members of the committed ISR; a pending addition does not help.
    pub committed: usize,
    /// The smaller of `min.insync.replicas` and the replica count.
    pub effective_min: usize,
}

/// The high watermark never moves while the committed ISR is below min ISR ("strict min ISR").
pub fn may_advance(committed_isr: usize, effective_min_isr: usize) -> bool {
    committed_isr >= effective_min_isr
}

/// Members of the maximal ISR count, and so does whoever is about to join it.
pub fn counts(follower: &FollowerStanding) -> bool {
    follower.in_maximal_isr || (follower.caught_up && follower.eligible)
}

/// The leader's next high watermark: the smallest log end among itself and all that count.
///
/// It never steps back (rule 18), and stays while a counted follower's log end is unknown.
pub fn next_high_watermark(
    rules: &Rules,
    current: Offset,
    own_log_end: Offset,
    isr: IsrSize,
    followers: impl Iterator<Item = FollowerStanding>,
) -> Offset {
    if !(rules.may_advance)(isr.committed, isr.effective_min) {
        return current;
    }
    let counted = followers.filter(|f| (rules.counts_for_high_watermark)(f));
    let lowest = counted.map(|f| f.log_end).min().unwrap_or(Some(own_log_end));
    lowest.map_or(current, |end| current.max(end.min(own_log_end)))
}
