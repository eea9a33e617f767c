//! The contract's rules that a mutant can break, one named function each, and the table of them.
//!
//! The machines call the table, never the functions; the default table is the contract.

pub mod ack;
pub mod append_admission;
pub mod broker_registration;
pub mod divergence;
pub mod election;
pub mod fetch_bound;
pub mod flush;
pub mod follower_position;
pub mod high_watermark;
pub mod isr_admission;
pub mod isr_change;
pub mod isr_eligibility;
pub mod isr_proposal;
pub mod isr_removal;
pub mod leader_epoch;
pub mod metadata_commit;
pub mod metadata_order;
pub mod offset_availability;
pub mod placement;
pub mod producer_ids;
pub mod producer_sequence;
pub mod read_end;
pub mod restored_high_watermark;
pub mod truncation;
pub mod unclean_shutdown;
pub mod voter_restart;

/// One function per rule; a mutant replaces an entry.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rule 17: the high watermark stays below min ISR.
    pub may_advance: high_watermark::MayAdvance,
    /// Rule 16: whom the high watermark waits for.
    pub counts_for_high_watermark: high_watermark::Counts,
    /// Rule 16: committed ISR and pending addition.
    pub maximal_isr: isr_change::MaximalIsr,
    /// Rule 22: a proposed removal is not yet one.
    pub while_shrinking: isr_change::WhileShrinking,
    /// Rule 23: who may join the ISR.
    pub admits_to_isr: isr_admission::Admits,
    /// Rule 24: when a fetch shows a follower caught up.
    pub caught_up_at: isr_removal::CaughtUpAt,
    /// Rule 24: who must leave the ISR.
    pub out_of_sync: isr_removal::OutOfSync,
    /// Rule 16: what a fetch confirms.
    pub confirmed_end: follower_position::ConfirmedEnd,
    /// Rule 18: how far a follower's high watermark goes.
    pub follower_high_watermark: follower_position::FollowerHighWatermark,
    /// Rule 18: the high watermark after a restart.
    pub restored_high_watermark: restored_high_watermark::RestoredHighWatermark,
    /// Contract c.1.4: `flush.messages`.
    pub flush_after: flush::FlushAfter,
    /// Rule 36: acks=all on the leader.
    pub ack_all: ack::AckAll,
    /// Rule 36: acks=all after leadership was lost.
    pub ack_on_step_down: ack::AckOnStepDown,
    /// Rule 37: min ISR before the append.
    pub admits_append: append_admission::AdmitsAppend,
    /// Rule 42: repeats of the last five batches.
    pub find_repeat: producer_sequence::FindRepeat,
    /// Rules 41, 44: contiguous sequences.
    pub check_sequence: producer_sequence::CheckSequence,
    /// Rule 58: how far a reader sees.
    pub fetch_bound: fetch_bound::FetchBound,
    /// Rule 58: a read ends at its bound, wherever segments do.
    pub read_end: read_end::ReadEnd,
    /// Rule 12: fencing by leader epoch.
    pub check_leader_epoch: leader_epoch::CheckLeaderEpoch,
    /// Rule 9: the leader finds divergence.
    pub diverges: divergence::Diverges,
    /// Rule 9: the follower cuts.
    pub cut_point: truncation::CutPoint,
    /// Rules 8, 14: nothing is cut before the leader was asked.
    pub cut_on_follow: truncation::CutOnFollow,
    /// Rule 14: out of range is no reason to wipe.
    pub after_out_of_range: truncation::AfterOutOfRange,
    /// Rule 25: newer state replaces older.
    pub supersedes: metadata_order::Supersedes,
    /// Rule 19: LATEST of a new leader.
    pub end_is_known: offset_availability::EndIsKnown,
    /// Rule 32: one incarnation of a broker id at a time.
    pub may_register: broker_registration::MayRegister,
    /// Rule 31: who keeps its place in an ISR over a restart.
    pub proves_clean_shutdown: unclean_shutdown::ProvesCleanShutdown,
    /// Rule 22: which ISR proposals are judged.
    pub check_proposer: isr_proposal::CheckProposer,
    /// Rule 23: whom the controller lets into an ISR.
    pub may_be_in_isr: isr_eligibility::MayBeInIsr,
    /// Rule 27: who leads next.
    pub elect: election::Elect,
    /// Rule 86: where replicas go.
    pub place: placement::Place,
    /// Rule 86: what becomes of an operator's assignment.
    pub as_asked: placement::AsAsked,
    /// Rule 46: no block of producer ids twice.
    pub after_block: producer_ids::AfterBlock,
    /// Rule 71: what of the metadata log is committed.
    pub committed_end: metadata_commit::CommittedEnd,
    /// Rule 72: a restarted voter does not resume its epoch.
    pub first_epoch: voter_restart::FirstEpoch,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            may_advance: high_watermark::may_advance,
            counts_for_high_watermark: high_watermark::counts,
            maximal_isr: isr_change::maximal_isr,
            while_shrinking: isr_change::while_shrinking,
            admits_to_isr: isr_admission::admits,
            caught_up_at: isr_removal::caught_up_at,
            out_of_sync: isr_removal::out_of_sync,
            confirmed_end: follower_position::confirmed_end,
            follower_high_watermark: follower_position::follower_high_watermark,
            restored_high_watermark: restored_high_watermark::restored_high_watermark,
            flush_after: flush::flush_after,
            ack_all: ack::ack_all,
            ack_on_step_down: ack::ack_on_step_down,
            admits_append: append_admission::admits_append,
            find_repeat: producer_sequence::find_repeat,
            check_sequence: producer_sequence::check_sequence,
            fetch_bound: fetch_bound::fetch_bound,
            read_end: read_end::read_end,
            check_leader_epoch: leader_epoch::check_leader_epoch,
            diverges: divergence::diverges,
            cut_point: truncation::cut_point,
            cut_on_follow: truncation::cut_on_follow,
            after_out_of_range: truncation::after_out_of_range,
            supersedes: metadata_order::supersedes,
            end_is_known: offset_availability::end_is_known,
            may_register: broker_registration::may_register,
            proves_clean_shutdown: unclean_shutdown::proves_clean_shutdown,
            check_proposer: isr_proposal::check_proposer,
            may_be_in_isr: isr_eligibility::may_be_in_isr,
            elect: election::elect,
            place: placement::place,
            as_asked: placement::as_asked,
            after_block: producer_ids::after_block,
            committed_end: metadata_commit::committed_end,
            first_epoch: voter_restart::first_epoch,
        }
    }
}
