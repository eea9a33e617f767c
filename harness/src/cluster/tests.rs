//! Start, kill, stop and pause on real processes.
