//! A Kafka-compatible broker whose replication follows Apache Kafka 4.x: sockets, files and clock
//! around the broker crate.

mod cli;
mod clock;
mod disk_thread;
mod failure;
mod file_disk;
mod log_dir;
mod log_lines;
mod log_queue;
mod message;
mod net;
mod node_thread;
mod process;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // The exit status stands whether or not anybody reads.
            if log_lines::flush() {
                let _ = writeln!(std::io::stderr(), "highwater-node: {failure}");
            }
            ExitCode::from(failure.status)
        }
    }
}
