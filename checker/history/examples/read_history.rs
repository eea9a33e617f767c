//! Reads a history and says how many events a second that took.

use std::{env, path::Path, process::ExitCode, time::Instant};

use highwater_history::reader::HistoryReader;

fn main() -> ExitCode {
    let Some(file) = env::args().nth(1) else {
        eprintln!("usage: read_history FILE");
        return ExitCode::from(64);
    };
    let start = Instant::now();
    let mut events = 0_u64;
    let reader = match HistoryReader::open(Path::new(&file)) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for event in reader {
        if let Err(error) = event {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        events += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{events} events in {seconds:.2} s: {:.0} a second", events as f64 / seconds);
    ExitCode::SUCCESS
}
