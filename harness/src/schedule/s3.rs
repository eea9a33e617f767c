//! The leader is cut off while clients stay attached: even seeds alone, odd seeds with a follower.

use super::{Entry, s3a, s3b};

/// This schedule.
pub static ENTRY: Entry =
    Entry { make: |ask| if ask.seed % 2 == 0 { s3a::make(ask) } else { s3b::make(ask) } };
