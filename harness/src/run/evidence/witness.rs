//! The second witness: what the proxies saw of answers against what the history says of them.
//!
//! Every answer in the history must have passed a proxy as it is told. The other way round proves
//! nothing: a client may have given up before the answer came.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use highwater_history::{
    Event, EventValue, FormatError,
    event::{Ack, Attempts, EventKind, Function, MicroOp, Process},
    outcome::Witness,
    reader::HistoryReader,
};
use highwater_workloads::{Catalog, op::code, outcome};

use crate::proxy::Witnessed;

/// Disagreements that are told; they are counted to the end.
const TOLD: usize = 20;
const PRODUCE: i16 = 0;
const FETCH: i16 = 1;

/// What identifies an answer to a send: client, broker, key, code, base offset.
type SendSeen = (String, i32, String, String, i64);
/// What identifies an answer to a poll: client, broker, key, last offset.
type PollSeen = (String, i32, String, i64);

/// Compares a history with the proxies' files in `nodes`.
///
/// # Errors
/// When a file cannot be read.
pub fn compare_folder(
    history: &Path,
    nodes: &Path,
    brokers: &[i32],
    catalog: &Catalog,
) -> Result<Witness, FormatError> {
    let mut seen = Seen::default();
    for node in brokers {
        let path = nodes.join(format!("proxy-{node}.jsonl"));
        let file = File::open(&path).map_err(|source| FormatError::io(&path, source))?;
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|source| FormatError::io(&path, source))?;
            let witnessed: Witnessed = serde_json::from_str(&line)
                .map_err(|error| FormatError::document(&path, error.to_string()))?;
            seen.add(*node, &witnessed, catalog);
        }
    }
    let mut comparison = Comparison::new(seen);
    for event in HistoryReader::open(history)? {
        comparison.event(&event?);
    }
    Ok(comparison.finish())
}

/// Every answer that the proxies saw, counted.
#[derive(Debug, Default)]
pub struct Seen {
    sends: BTreeMap<SendSeen, u64>,
    polls: BTreeMap<PollSeen, u64>,
}

impl Seen {
    /// Adds what the proxy of `node` saw.
    pub fn add(&mut self, node: i32, witnessed: &Witnessed, catalog: &Catalog) {
        for partition in &witnessed.partitions {
            let by_id = partition.topic.parse().ok();
            let key = by_id
                .and_then(|id| catalog.by_id(id, partition.partition))
                .or_else(|| catalog.by_name(&partition.topic, partition.partition));
            let Some(key) = key else { continue };
            let (client, key) = (witnessed.client_id.clone(), catalog.name(key).to_owned());
            match witnessed.api {
                PRODUCE => {
                    let code = outcome::row(partition.code).name.to_owned();
                    let seen = (client, node, key, code, partition.offset);
                    *self.sends.entry(seen).or_default() += 1;
                }
                FETCH if partition.code == 0 && partition.last_offset >= 0 => {
                    let seen = (client, node, key, partition.last_offset);
                    *self.polls.entry(seen).or_default() += 1;
                }
                _ => {}
            }
        }
    }
}

/// A comparison under way.
#[derive(Debug)]
pub struct Comparison {
    seen: Seen,
    /// Client id and acks=0 by process.
    clients: BTreeMap<u64, (String, bool)>,
    result: Witness,
    disagreements: usize,
}

impl Comparison {
    /// Nothing was compared yet.
    #[must_use]
    pub fn new(seen: Seen) -> Comparison {
        Comparison { seen, clients: BTreeMap::new(), result: Witness::default(), disagreements: 0 }
    }

    /// Takes the next event of the history.
    pub fn event(&mut self, event: &Event) {
        if let EventValue::Open(open) = &event.value {
            // The final reader goes past the proxies.
            if open.role.as_deref() == Some("workload") {
                let silent = open.acks == Some(highwater_history::event::Acks::Zero);
                let client = (format!("highwater-{}", open.client), silent);
                self.clients
                    .extend(open.processes.iter().map(|process| (*process, client.clone())));
            }
        }
        let Process::Client(process) = event.process else { return };
        let Some((client, silent)) = self.clients.get(&process).cloned() else { return };
        match (&event.f, event.kind) {
            (Function::Send, kind) if kind != EventKind::Invoke && !silent => {
                self.send(event, &client);
            }
            (Function::Poll, EventKind::Ok) => self.poll(event, &client),
            _ => {}
        }
    }

    /// The result.
    #[must_use]
    pub fn finish(mut self) -> Witness {
        let untold = self.disagreements - self.result.disagreements.len();
        if untold > 0 {
            self.result.disagreements.push(format!("and {untold} more"));
        }
        self.result
    }

    fn send(&mut self, event: &Event, client: &str) {
        let EventValue::Ops(ops) = &event.value else { return };
        let Some(MicroOp::Send { key, ack, .. }) = ops.first() else { return };
        let Some(Attempts::List(attempts)) = &event.attempts else { return };
        let answered = attempts.iter().filter(|attempt| !is_own_code(&attempt.code));
        for attempt in answered {
            // Only the deciding answer of an acknowledged send tells an offset.
            let offset = match (event.kind, ack) {
                (EventKind::Ok, Ack::At(offset)) if attempt.code == "NONE" => *offset,
                _ => -1,
            };
            let code = attempt.code.clone();
            let wanted = (client.to_owned(), attempt.node, key.to_string(), code.clone(), offset);
            if !take(&mut self.seen.sends, &wanted) {
                self.disagree(format!(
                    "event {}: {client} says that node {} answered {code} at offset {offset} of \
                     {key}; its proxy saw no such answer",
                    event.index, attempt.node
                ));
            }
            self.result.compared += 1;
        }
    }

    fn poll(&mut self, event: &Event, client: &str) {
        let EventValue::Ops(ops) = &event.value else { return };
        let Some(MicroOp::Poll { records: Some(records) }) = ops.first() else { return };
        let Some(node) = event.node else { return };
        for (key, read) in records {
            // A damaged batch does not tell the client where it ends; it is a finding of its own.
            if event.payload_errors.iter().flatten().any(|error| error.key == *key) {
                continue;
            }
            let Some(last) = read.last().and_then(|record| record.0) else { continue };
            let wanted = (client.to_owned(), node, key.to_string(), last);
            if !take(&mut self.seen.polls, &wanted) {
                self.disagree(format!(
                    "event {}: {client} says that node {node} gave it {key} up to offset {last}; \
                     its proxy saw no such answer",
                    event.index
                ));
            }
            self.result.compared += 1;
        }
    }

    fn disagree(&mut self, what: String) {
        self.disagreements += 1;
        if self.result.disagreements.len() < TOLD {
            self.result.disagreements.push(what);
        }
    }
}

fn is_own_code(code: &str) -> bool {
    let own = [
        code::CONNECTION_LOST,
        code::TIMEOUT,
        code::CONNECT_FAILED,
        code::NO_LEADER,
        code::SESSION_ENDED,
        code::MALFORMED_ANSWER,
    ];
    own.contains(&code)
}

fn take<K: Ord>(counts: &mut BTreeMap<K, u64>, key: &K) -> bool {
    match counts.get_mut(key) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use highwater_history::{Event, event::Acks};
    use highwater_workloads::{Catalog, topic::TopicPlan};

    use super::{Comparison, Seen};
    use crate::proxy::{Witnessed, WitnessedPartition};

    fn seen() -> Seen {
        let mut catalog = Catalog::default();
        let plan = TopicPlan { label: "all".into(), partitions: 1, acks: Acks::All };
        catalog.add(plan, "r-all".into(), uuid::Uuid::from_u128(7));
        let partition = |offset, last_offset| WitnessedPartition {
            topic: "r-all".into(),
            partition: 0,
            code: 0,
            offset,
            last_offset,
            high_watermark: -1,
        };
        let witnessed = |api, partition| Witnessed {
            time: 0,
            api,
            client_id: "highwater-3".into(),
            correlation_id: 1,
            code: 0,
            partitions: vec![partition],
        };
        let mut seen = Seen::default();
        seen.add(2, &witnessed(0, partition(41, -1)), &catalog);
        seen.add(2, &witnessed(1, partition(40, 44)), &catalog);
        seen
    }

    const OPEN: &str = r#"{"index":0,"time":0,"process":"harness","type":"info","f":"open","value":
        {"client":3,"kind":"producer","processes":[9],"acks":"all","role":"workload"}}"#;

    fn compare(offset: i64, last: i64) -> (u64, usize) {
        let lines = [
            OPEN.to_owned(),
            format!(
                r#"{{"index":1,"time":1,"process":9,"type":"ok","f":"send",
                "value":[["send","all-0",[{offset},5]]],"node":2,
                "attempts":[{{"node":2,"at":0,"took":1,"code":"TIMEOUT"}},
                            {{"node":2,"at":0,"took":1,"code":"NONE"}}]}}"#
            ),
            format!(
                r#"{{"index":2,"time":2,"process":9,"type":"ok","f":"poll",
                "value":[["poll",{{"all-0":[[40,4],[{last},5]]}}]],"node":2}}"#
            ),
        ];
        let mut comparison = Comparison::new(seen());
        for line in &lines {
            let event: Event = serde_json::from_str(line).unwrap();
            comparison.event(&event);
        }
        let result = comparison.finish();
        (result.compared, result.disagreements.len())
    }

    /// D19 is for the checker: the proxy saw the batch's end, the client only where it began.
    #[test]
    fn a_damaged_batch_is_no_disagreement() {
        let line = r#"{"index":2,"time":2,"process":9,"type":"ok","f":"poll",
            "value":[["poll",{"all-0":[[40,4]]}]],"node":2,
            "payload_errors":[{"key":"all-0","offset":41,"fault":"corrupt"}]}"#;
        let mut comparison = Comparison::new(seen());
        for line in [OPEN, line] {
            comparison.event(&serde_json::from_str(line).unwrap());
        }
        assert_eq!(comparison.finish().disagreements.len(), 0);
    }

    #[test]
    fn what_both_saw_agrees() {
        assert_eq!(compare(41, 44), (2, 0));
    }

    #[test]
    fn an_altered_completion_is_noticed() {
        assert_eq!(compare(42, 44), (2, 1));
        assert_eq!(compare(41, 45), (2, 1));
    }
}
