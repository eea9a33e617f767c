//! Tests of the metadata quorum: a voter on its own, its fetchers, and the rules of commit.

mod observer;
mod voter;

use crate::replica::EpochCache;
use crate::rule::Rules;
use crate::types::{BrokerId, LeaderEpoch, Offset};

use super::*;

const OWN: BrokerId = BrokerId(9);

fn quorum(voters: &[i32]) -> Quorum {
    let voters = Voters(voters.iter().copied().map(BrokerId).collect());
    Quorum::new(OWN, voters, Rules::default())
}

fn epochs(entries: &[(i32, i64)]) -> EpochCache {
    let entry = |(epoch, start): &(i32, i64)| (LeaderEpoch(*epoch), Offset(*start));
    EpochCache::new(entries.iter().map(entry).collect())
}

fn tell(quorum: &mut Quorum, input: QuorumInput) -> Vec<QuorumOutput> {
    let mut out = Vec::new();
    quorum.step(input, &mut out);
    quorum.validate();
    out
}

fn start(
    quorum: &mut Quorum,
    saved: QuorumState,
    log_end: i64,
    log: &[(i32, i64)],
) -> Vec<QuorumOutput> {
    let input = QuorumInput::Start { saved, log_end: Offset(log_end), epochs: epochs(log) };
    tell(quorum, input)
}

/// A voter that is alone and leads epoch 1 from offset 0, its leader change record synced.
fn leader() -> Quorum {
    let mut quorum = quorum(&[9]);
    start(&mut quorum, QuorumState::default(), 0, &[]);
    tell(&mut quorum, QuorumInput::StateSaved);
    tell(&mut quorum, QuorumInput::Appended(Offset(1)));
    tell(&mut quorum, QuorumInput::Synced(Offset(1)));
    quorum
}
