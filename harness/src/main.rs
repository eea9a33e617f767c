//! Starts real brokers, breaks them, records and judges.

use highwater_harness::cli::{self, Exit};

fn main() -> Exit {
    cli::main()
}
