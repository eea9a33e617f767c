//! Starts real brokers, breaks them, records and judges.

fn main() {}
