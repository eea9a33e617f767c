//! As isr-addition-in-flight, with late metadata in between: it must not void what was asked for.

use super::{Entry, isr_addition_in_flight::addition};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "As isr-addition-in-flight, but after it has asked the leader applies late \
                     metadata of the change before, which it knew: what it asked for stands.";
        addition("isr-addition-late-metadata", about, true)
    },
};
