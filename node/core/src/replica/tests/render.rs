//! How scripts show outputs, answers and the state of a replica: one line each.

use std::fmt::Write as _;

use crate::replica::*;
use crate::types::*;

pub fn output(output: &Output) -> String {
    match output {
        Output::Truncate { to } => format!("> truncate to {to}"),
        Output::TruncateFully { start } => format!("> throw away, start at {start}"),
        Output::EpochStarted { epoch, start } => format!("> epoch {epoch} starts at {start}"),
        Output::ProposeIsr(p) => {
            let members: Vec<String> = p.isr.iter().map(|(id, e)| format!("{id}({e})")).collect();
            let (epoch, version) = (p.leader_epoch, p.partition_epoch);
            format!("> propose isr {} epoch {epoch} version {version}", members.join(","))
        }
        Output::HighWatermarkMoved { to } => format!("> high watermark {to}"),
        Output::LogEndMoved { to } => format!("> log end {to}"),
        Output::StandingChanged => "> standing changed".to_owned(),
        Output::Event(event) => format!("> {event:?}"),
    }
}

pub fn replica(replica: &Replica) -> String {
    let LogBounds { log_start, high_watermark, log_end, .. } = replica.bounds();
    let mut text = match (replica.leads(), replica.follows()) {
        (Some(epoch), _) => format!("leads epoch {epoch}"),
        (_, Some((leader, epoch))) => format!("follows {leader} epoch {epoch}"),
        _ => "serves nobody".to_owned(),
    };
    let appended = replica.appended_end();
    write!(text, "; log {log_start}..{log_end}, hw {high_watermark}").expect("text takes writes");
    if appended != log_end {
        write!(text, ", appended {appended}").expect("text takes writes");
    }
    let epochs: Vec<String> = replica.epochs().iter().map(|(e, s)| format!("{e}@{s}")).collect();
    if !epochs.is_empty() {
        write!(text, "; epochs {}", epochs.join(" ")).expect("text takes writes");
    }
    text
}

pub fn answer(answer: Result<FetchAnswer, ReplicaError>) -> String {
    match answer {
        Err(error) => format!("refused {error:?}\n"),
        Ok(FetchAnswer::Readable { upto, bytes, bounds }) => {
            format!("readable up to {upto} ({bytes} bytes), hw {}\n", bounds.high_watermark)
        }
        Ok(FetchAnswer::Diverging { end, .. }) => {
            format!("diverging: epoch {} ends at {}\n", end.epoch, end.end)
        }
    }
}

pub fn appended(appended: Result<Appended, ReplicaError>) -> String {
    match appended {
        Err(error) => format!("refused {error:?}\n"),
        Ok(at) => {
            let how = if at.repeat_of.is_some() { "repeats" } else { "appended at" };
            format!("{how} {}..={} epoch {}\n", at.base_offset, at.last_offset, at.leader_epoch)
        }
    }
}

pub fn position(position: Option<FollowerPosition>) -> String {
    match position {
        None => "no position\n".to_owned(),
        Some(p) => {
            let last = p.last_fetched_epoch.map_or("none".to_owned(), |e| e.to_string());
            format!("fetches {} from {} epoch {} last {last}\n", p.offset, p.leader, p.leader_epoch)
        }
    }
}

pub fn producers(producers: &Producers) -> String {
    let mut text = String::new();
    for (id, entry) in producers.iter() {
        let batches: Vec<String> = entry
            .batches
            .iter()
            .map(|b| {
                let (first, last) = (b.base_sequence, b.last_sequence);
                format!("{first}..={last}@{}", b.base_offset)
            })
            .collect();
        let ProducerEpoch(epoch) = entry.epoch;
        writeln!(text, "producer {id} epoch {epoch}: {}", batches.join(" "))
            .expect("text takes writes");
    }
    text
}
