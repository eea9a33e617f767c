//! Starts real brokers, breaks them, records and judges.

use highwater_harness::{
    cli::{self, Exit},
    memory,
};

fn main() -> Exit {
    memory::give_back_what_is_free();
    cli::main()
}
