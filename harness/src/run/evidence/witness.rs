//! The second witness: what the proxies saw of answers against what the history says of them.
//!
//! Every answer in the history must have passed a proxy as it is told. The other way round proves
//! nothing: a client may have given up before the answer came.

mod seen;

use std::{collections::BTreeMap, path::Path};

use highwater_history::{
    Event, EventValue, FormatError,
    event::{Ack, Attempts, EventKind, Function, MicroOp, Process},
    outcome::Witness,
    reader::HistoryReader,
};
use highwater_workloads::{Catalog, op::code};
use seen::{Answer, Seen};

/// Disagreements that are told; they are counted to the end.
const TOLD: usize = 20;

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
    let lines = |node: &i32| {
        let path = nodes.join(format!("proxy-{node}.jsonl"));
        Ok((*node, seen::lines_of(&path)?))
    };
    let proxies = brokers.iter().map(lines).collect::<Result<_, FormatError>>()?;
    let mut comparison = Comparison::new(Seen::new(catalog, proxies));
    for event in HistoryReader::open(history)? {
        comparison.event(&event?)?;
    }
    Ok(comparison.finish())
}

/// A comparison under way.
#[derive(Debug)]
struct Comparison<'a> {
    seen: Seen<'a>,
    /// Client id and acks=0 by process.
    clients: BTreeMap<u64, (String, bool)>,
    result: Witness,
    disagreements: usize,
}

impl Comparison<'_> {
    /// Nothing was compared yet.
    fn new(seen: Seen<'_>) -> Comparison<'_> {
        Comparison { seen, clients: BTreeMap::new(), result: Witness::default(), disagreements: 0 }
    }

    /// Takes the next event of the history.
    fn event(&mut self, event: &Event) -> Result<(), FormatError> {
        if let EventValue::Open(open) = &event.value {
            // The final reader goes past the proxies.
            if open.role.as_deref() == Some("workload") {
                let silent = open.acks == Some(highwater_history::event::Acks::Zero);
                let client = (format!("highwater-{}", open.client), silent);
                self.clients
                    .extend(open.processes.iter().map(|process| (*process, client.clone())));
            }
        }
        let Process::Client(process) = event.process else { return Ok(()) };
        let Some((client, silent)) = self.clients.get(&process).cloned() else { return Ok(()) };
        match (&event.f, event.kind) {
            (Function::Send, kind) if kind != EventKind::Invoke && !silent => {
                self.send(event, &client)
            }
            (Function::Poll, EventKind::Ok) => self.poll(event, &client),
            _ => Ok(()),
        }
    }

    /// The result.
    fn finish(mut self) -> Witness {
        let untold = self.disagreements - self.result.disagreements.len();
        if untold > 0 {
            self.result.disagreements.push(format!("and {untold} more"));
        }
        self.result
    }

    fn send(&mut self, event: &Event, client: &str) -> Result<(), FormatError> {
        let EventValue::Ops(ops) = &event.value else { return Ok(()) };
        let Some(MicroOp::Send { key, ack, .. }) = ops.first() else { return Ok(()) };
        let Some(Attempts::List(attempts)) = &event.attempts else { return Ok(()) };
        for attempt in attempts {
            let (node, code) = (attempt.node, &*attempt.code);
            if code == code::MALFORMED_ANSWER {
                // One such answer ends the connection and all that waits on it, and it may have
                // been to a request that no proxy looks at: it is no disagreement.
                let seen = self.seen.take(node, Answer::Unreadable(client))?;
                self.result.compared += u64::from(seen);
            }
            if is_own_code(code) {
                continue;
            }
            // Only the deciding answer of an acknowledged send tells an offset.
            let offset = match (event.kind, ack) {
                (EventKind::Ok, Ack::At(offset)) if code == "NONE" => *offset,
                _ => -1,
            };
            if !self.seen.take(node, Answer::Sent(client, key.as_str(), code, offset))? {
                self.disagree(format!(
                    "event {}: {client} says that node {node} answered {code} at offset {offset} \
                     of {key}; its proxy saw no such answer",
                    event.index
                ));
            }
            self.result.compared += 1;
        }
        Ok(())
    }

    fn poll(&mut self, event: &Event, client: &str) -> Result<(), FormatError> {
        let EventValue::Ops(ops) = &event.value else { return Ok(()) };
        let Some(MicroOp::Poll { records: Some(records) }) = ops.first() else { return Ok(()) };
        let Some(node) = event.node else { return Ok(()) };
        for (key, read) in records {
            // A damaged batch does not tell the client where it ends; it is a finding of its own.
            if event.payload_errors.iter().flatten().any(|error| error.key == *key) {
                continue;
            }
            let Some(last) = read.last().and_then(|record| record.0) else { continue };
            if !self.seen.take(node, Answer::Polled(client, key.as_str(), last))? {
                self.disagree(format!(
                    "event {}: {client} says that node {node} gave it {key} up to offset {last}; \
                     its proxy saw no such answer",
                    event.index
                ));
            }
            self.result.compared += 1;
        }
        Ok(())
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
        code::CLIENT_CRASHED,
        code::MALFORMED_ANSWER,
    ];
    own.contains(&code)
}

#[cfg(test)]
mod tests {
    use highwater_history::{Event, event::Acks, outcome::Witness};
    use highwater_workloads::{Catalog, topic::TopicPlan};

    use super::{Comparison, Seen};
    use crate::proxy::{Witnessed, WitnessedPartition};

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let plan = TopicPlan::new("all", 1, Acks::All);
        catalog.add(plan, "r-all".into(), uuid::Uuid::from_u128(7));
        catalog
    }

    fn seen() -> Vec<Witnessed> {
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
            unreadable: None,
            partitions: vec![partition],
        };
        vec![witnessed(0, partition(41, -1)), witnessed(1, partition(40, 44))]
    }

    /// Compares these lines of a history with what the proxy of node 2 saw; tells what is kept.
    fn told(lines: &[&str], seen: Vec<Witnessed>) -> (Witness, usize) {
        let catalog = catalog();
        let lines_of_two: super::seen::WitnessLines = Box::new(seen.into_iter().map(Ok));
        let seen = Seen::new(&catalog, [(2, lines_of_two)].into());
        let mut comparison = Comparison::new(seen);
        for line in lines {
            let event: Event = serde_json::from_str(line).unwrap();
            comparison.event(&event).unwrap();
        }
        let kept = comparison.seen.kept();
        (comparison.finish(), kept)
    }

    const OPEN: &str = r#"{"index":0,"time":0,"process":"harness","type":"info","f":"open","value":
        {"client":3,"kind":"producer","processes":[9],"acks":"all","role":"workload"}}"#;

    fn compare(offset: i64, last: i64) -> (u64, usize) {
        let lines = [
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
        let (result, _) = told(&[OPEN, &lines[0], &lines[1]], seen());
        (result.compared, result.disagreements.len())
    }

    /// D19 is for the checker: the proxy saw the batch's end, the client only where it began.
    #[test]
    fn a_damaged_batch_is_no_disagreement() {
        let line = r#"{"index":2,"time":2,"process":9,"type":"ok","f":"poll",
            "value":[["poll",{"all-0":[[40,4]]}]],"node":2,
            "payload_errors":[{"key":"all-0","offset":41,"fault":"corrupt"}]}"#;
        assert_eq!(told(&[OPEN, line], seen()).0.disagreements.len(), 0);
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

    const SENT: &str = r#"{"index":1,"time":1,"process":9,"type":"ok","f":"send",
        "value":[["send","all-0",[41,5]]],"node":2,
        "attempts":[{"node":2,"at":0,"took":1,"code":"NONE"}]}"#;

    #[test]
    fn an_answer_is_told_of_once_and_then_forgotten() {
        let mut seen = seen();
        seen.truncate(1);
        let (result, kept) = told(&[OPEN, SENT, SENT], seen.clone());
        assert_eq!((result.disagreements.len(), kept), (1, 0));
        seen.resize(100, seen[0].clone());
        let (result, kept) = told(&[OPEN, SENT, SENT], seen);
        assert_eq!((result.disagreements.len(), kept), (0, 0), "the rest is not even read");
    }

    /// Apache Kafka answers so when a record was appended and its leader deposed.
    #[test]
    fn a_refusal_may_bear_the_offset_of_what_was_appended() {
        let refused = SENT.replace("[41,5]", "5").replace("NONE", "NOT_LEADER_OR_FOLLOWER");
        let mut seen = seen();
        seen[0].partitions[0].code = 6;
        let (result, _) = told(&[OPEN, &refused.replace("\"ok\"", "\"info\"")], seen);
        assert_eq!((result.compared, result.disagreements.len()), (1, 0));
    }

    #[test]
    fn an_answer_that_is_no_answer_is_the_target_s() {
        let malformed = SENT.replace("NONE", "MALFORMED_ANSWER").replace("\"ok\"", "\"info\"");
        let mut seen = seen();
        seen.truncate(1);
        (seen[0].unreadable, seen[0].partitions) = (Some("too short".into()), Vec::new());
        let (result, _) = told(&[OPEN, &malformed, &malformed], seen);
        assert_eq!((result.compared, result.disagreements.len()), (1, 0));
    }
}
