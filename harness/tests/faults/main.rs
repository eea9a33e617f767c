//! Every fault acts and heals on a cluster of real processes behind real proxies.
//!
//! The nodes are stand-ins: this test binary started again, with listeners that answer and
//! connections to each other's proxies, so that what a fault does to processes and links is seen
//! from inside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails at that place")]

mod acts;
mod bench;
mod disk;
mod killed_harness;
mod parameters;
mod stand_in;
