//! Tests of the data path on one broker: requests and metadata in, answers and disk commands out.

mod bench;
mod flush;
mod isr;
mod logs;
mod produce;
