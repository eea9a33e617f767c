//! Logs of Kafka's VerifiableProducer and VerifiableConsumer (`org.apache.kafka.tools`) as one
//! history.
//!
//! What a log is, its lines say. What they do not say is left out or left open, and a note tells
//! so: when a send began, where one stands that was not answered, what a consumer was given that
//! prints no records, whether somebody read to the end.

mod consumer;
mod events;
mod join;
mod line;
mod producer;
mod text;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub(crate) use self::events::Told;
use self::{
    consumer::{Consumer, ConsumerLog},
    join::Joined,
    line::{Line, LogReader, Said},
    producer::{Producer, ProducerLog},
};
use crate::format::FormatError;

/// What a log is.
enum Log {
    Producer(Producer),
    Consumer(Consumer),
    /// It began and ended, and did nothing between.
    Idle,
}

/// Reads logs, each of one process.
pub(crate) fn read(files: &[PathBuf]) -> Result<Told, FormatError> {
    let mut joined = Joined::default();
    for file in files {
        let mut reader = LogReader::open(file)?;
        match read_log(&mut reader)? {
            Log::Producer(producer) => joined.producers.push(producer),
            Log::Consumer(consumer) => joined.consumers.push(consumer),
            Log::Idle => {}
        }
        joined.notes.extend(passed_over(&reader));
    }
    joined.join()
}

fn read_log(reader: &mut LogReader<'_>) -> Result<Log, FormatError> {
    let (mut producer, mut consumer) = (ProducerLog::default(), ConsumerLog::default());
    let mut times = None;
    while let Some(Line { timestamp, said }) = reader.next()? {
        // A clock that was set back does not undo what came before.
        let (first, last) = times.unwrap_or((timestamp, timestamp));
        let at = timestamp.max(last);
        times = Some((first, at));
        let said = match said {
            Said::StartupComplete => {
                consumer.start(at);
                continue;
            }
            Said::ShutdownComplete => {
                producer.close();
                continue;
            }
            Said::ShutdownRequested => continue,
            said => said,
        };
        let Some(said) = producer.take(reader, at, said)? else { continue };
        consumer.take(reader, at, said)?;
        if !producer.is_empty() {
            let why = "a consumer's event in a producer's log; each process has a log of its own";
            return Err(reader.wrong(why));
        }
    }
    let Some((first, last)) = times else {
        let why = "it has no line of a VerifiableProducer or VerifiableConsumer";
        return Err(FormatError::document(reader.file, why));
    };
    Ok(match (producer.is_empty(), consumer.is_empty()) {
        (false, false) => {
            let why = "it has lines of a producer and of a consumer; each process has its own log";
            return Err(FormatError::document(reader.file, why));
        }
        (false, true) => Log::Producer(producer.finish(reader, first)),
        (true, false) => Log::Consumer(consumer.finish(reader, last)),
        (true, true) => Log::Idle,
    })
}

/// What stood in a log and says nothing here.
fn passed_over(reader: &LogReader<'_>) -> Vec<String> {
    let file = reader.file.display();
    let mut notes = Vec::new();
    let lines = |count: u64| if count == 1 { "line" } else { "lines" };
    if reader.others > 0 {
        let (others, lines) = (reader.others, lines(reader.others));
        notes.push(format!("{file}: {others} {lines} passed over that are no JSON"));
    }
    for (name, count) in &reader.unknown {
        notes.push(format!("{file}: {count} {} passed over, {name:?} is unknown", lines(*count)));
    }
    if reader.is_cut {
        notes.push(format!("{file}: it ends within a line; the process may have done more"));
    }
    notes
}
