//! Elections choose any live replica when none in sync is live, though no setting allows it.

use super::Entry;
use crate::rule::election::{Aim, Candidates, Elected, elect};

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "EL-01",
    source: "KIP-106 (KAFKA-4623); Kafka's design documentation, unclean leader election",
    schedule: "S19",
    rule: "27",
    apply: |rules| rules.elect = uncleanly,
};

fn uncleanly(candidates: &Candidates<'_>, aim: Aim) -> Elected {
    elect(candidates, if aim == Aim::Any { Aim::AnyUnclean } else { aim })
}
