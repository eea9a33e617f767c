//! A library to preload into a broker: it journals what the broker made durable, and it can delay
//! or refuse writes and syncs while the broker runs.
//!
//! It stands between the process and the C library, so it serves any program that is linked to the
//! C library dynamically. It keeps no table of open files: which file a descriptor is, the kernel
//! is asked when it matters. Without its variables it passes everything on.
//!
//! What gives credit (a sync) is journalled after it was done, what takes it away (a truncation, a
//! removal) before: at any instant the journal claims no less than what is durable, but for what
//! the process was not told yet.

#![allow(unsafe_code, reason = "it takes the place of functions of the C library")]

mod config;
mod errno;
mod hooks;
mod interpose;
mod journal;
#[allow(dead_code, reason = "the harness reads the counters and writes the levers")]
mod layout;
mod levers;
mod place;
