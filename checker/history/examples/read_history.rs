//! Reads a history on all cores and judges nothing: what judging costs comes on top of this.
//!
//! Usage: `read_history FILE`

use std::{env, ops::ControlFlow, path::Path, process::ExitCode, time::Instant};

use highwater_history::{ahead::read_ahead, reader::HistoryReader};

fn main() -> ExitCode {
    let Some(file) = env::args().nth(1) else {
        eprintln!("usage: read_history FILE");
        return ExitCode::from(64);
    };
    let start = Instant::now();
    let mut events = 0;
    let read = HistoryReader::open(Path::new(&file)).and_then(|reader| {
        read_ahead(reader, |columns| {
            events += columns.len();
            ControlFlow::<()>::Continue(())
        })
    });
    match read {
        Ok(_) => {
            println!("{events} events in {:.3} s", start.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
