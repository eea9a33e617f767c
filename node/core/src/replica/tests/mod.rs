//! Tests of the replica: scripts, one rule each, and random inputs.
