//! A partition's log: batches, segments, indexes, checkpoints, recovery.
