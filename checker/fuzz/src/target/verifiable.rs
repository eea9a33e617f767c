//! Logs of Kafka's VerifiableProducer and VerifiableConsumer, as one history.

use highwater_history::{convert::convert_logs, reader::HistoryFormat};

use super::{
    folder::{Folder, several},
    history, judge,
};

/// Reads logs, and judges the history that they make.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let write = |(nth, log): (usize, &Vec<u8>)| folder.write(&format!("{nth}.log"), log);
    let logs: Vec<_> = several(bytes).iter().enumerate().map(write).collect();
    let to = folder.file("h.jsonl");
    let Ok((converted, _)) = convert_logs(&logs, &to, HistoryFormat::Jsonl) else { return };
    let file = to.as_path().into();
    let told = history::read(&file);
    assert_eq!(told.end, Ok(converted.dropped_line), "what was written can be read");
    assert_eq!(told.events.len() as u64, converted.events);
    judge::judged(&file).expect("what was made of logs is a history");
}
