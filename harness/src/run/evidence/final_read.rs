//! The final read: every key from its beginning, by new connections to the real ports.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use highwater_history::{
    Event, EventValue,
    event::{ClientKind, EventError, EventKind, Function, Isolation, MicroOp, OpenClient, Process},
};
use highwater_workloads::{
    Catalog, Key,
    client::records,
    driver::History,
    op::{KeyRead, code},
    outcome,
};
use serde_json::Map;

use crate::{
    clock::RunClock,
    cluster::NodeId,
    direct::Direct,
    nemesis::{ClusterView, Partition},
    run::{asks, fail::Failure},
};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of one key that one answer may hold.
const MAX_BYTES: i32 = 1024 * 1024;

/// Who reads, and from what.
pub struct FinalReader {
    /// The keys of the run.
    pub catalog: Arc<Catalog>,
    /// The real ports of the brokers, which are at rest.
    pub brokers: BTreeMap<NodeId, SocketAddr>,
    /// Where it is recorded.
    pub history: History,
    /// The run's clock.
    pub clock: RunClock,
    /// The run's id, as payloads name it.
    pub run_id: String,
    /// The first number that no client and no process bears yet.
    pub first_number: u64,
}

impl FinalReader {
    /// Reads every key up to its high watermark, from 0 or, where its beginning is deleted
    /// (retention goes on meanwhile), from its log start; gives how far each was read.
    ///
    /// A key that cannot be read to its end within `limit` is left where it is.
    ///
    /// # Errors
    /// When the history takes no more.
    pub async fn read_all(
        &self,
        view: &ClusterView,
        limit: Duration,
    ) -> Result<BTreeMap<Key, i64>, Failure> {
        let mut read_to = BTreeMap::new();
        for key in self.catalog.keys() {
            let mut at = 0;
            let reading = self.read(key, view, &mut at);
            match tokio::time::timeout(limit, reading).await {
                Ok(done) => {
                    if done? {
                        read_to.insert(key, at);
                    }
                }
                Err(_elapsed) => continue,
            }
        }
        Ok(read_to)
    }

    /// True when the key was read to its high watermark.
    async fn read(&self, key: Key, view: &ClusterView, at: &mut i64) -> Result<bool, Failure> {
        let number = self.first_number + u64::from(key.0);
        let topic = self.catalog.topic(key).name.clone();
        let partition = Partition { topic, index: self.catalog.partition(key) };
        let leader = view.partitions.get(&partition).and_then(|seen| seen.leader);
        let Some(leader) = leader else { return Ok(false) };
        let Some(address) = self.brokers.get(&leader).copied() else {
            return Ok(false);
        };
        let Ok(mut broker) = Direct::connect(address, PATIENCE).await else { return Ok(false) };
        self.history.record([self.open(number)])?;
        self.assign(number, key)?;
        loop {
            self.history.record([self.poll(number, EventKind::Invoke, None)])?;
            let request = asks::fetch_request(&self.catalog, &[(key, *at)], MAX_BYTES)
                .with_isolation_level(1);
            let answer = match asks::fetch(&mut broker, &self.catalog, request, PATIENCE).await {
                Ok(answer) => answer,
                Err(error) => {
                    self.fail(number, &error.to_string())?;
                    return Ok(false);
                }
            };
            let Some(partition) = answer.responses.first().and_then(|t| t.partitions.first())
            else {
                self.fail(number, "MALFORMED_ANSWER")?;
                return Ok(false);
            };
            if partition.error_code != 0 {
                let code = outcome::row(partition.error_code).name;
                self.fail(number, code)?;
                if code == code::OFFSET_OUT_OF_RANGE
                    && self.seek(&mut broker, number, key, at).await?
                {
                    continue;
                }
                return Ok(false);
            }
            let names = (&*self.run_id, self.catalog.name(key));
            let (read, next) = records::read(names, *at, partition);
            let mut event = self.poll(number, EventKind::Ok, Some((key, read)));
            event.node = Some(leader.0);
            self.history.record([event])?;
            if next >= partition.high_watermark {
                *at = next;
                return Ok(true);
            }
            if next == *at {
                // Below the high watermark there is something to read, or the broker hides it.
                return Ok(false);
            }
            *at = next;
        }
    }

    /// Begins again where the log begins by now; true when that is further on.
    async fn seek(
        &self,
        broker: &mut Direct,
        number: u64,
        key: Key,
        at: &mut i64,
    ) -> Result<bool, Failure> {
        match asks::log_start(broker, &self.catalog, key, PATIENCE).await {
            Ok(Ok(begins)) if begins > *at => {
                *at = begins;
                self.assign(number, key)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn event(&self, process: Process, kind: EventKind, f: Function) -> Event {
        Event::new(self.clock.now_ns(), process, kind, f)
    }

    fn open(&self, number: u64) -> Event {
        let open = OpenClient {
            client: number,
            kind: ClientKind::Consumer,
            processes: vec![number],
            acks: None,
            idempotence: None,
            retries: None,
            producer_id: None,
            producer_epoch: None,
            isolation: Some(Isolation::ReadCommitted),
            group: None,
            role: Some("final-read".into()),
            extra: Map::new(),
        };
        self.event(Process::Harness, EventKind::Info, Function::Open)
            .with_value(EventValue::Open(Box::new(open)))
    }

    fn assign(&self, number: u64, key: Key) -> Result<(), Failure> {
        let event = |kind| {
            let mut event = self.event(Process::Client(number), kind, Function::Assign);
            event.value = EventValue::Keys(vec![self.catalog.name(key).into()]);
            event.seek_to_beginning = true;
            event
        };
        Ok(self.history.record([event(EventKind::Invoke), event(EventKind::Ok)])?)
    }

    fn poll(&self, number: u64, kind: EventKind, read: Option<(Key, KeyRead)>) -> Event {
        let mut event = self.event(Process::Client(number), kind, Function::Poll);
        let name = |key| highwater_history::Key::from(self.catalog.name(key));
        let records = read.as_ref().map(|(key, read)| {
            let some = (!read.records.is_empty()).then(|| (name(*key), read.records.clone()));
            some.into_iter().collect()
        });
        event.value = EventValue::Ops(vec![MicroOp::Poll { records }]);
        if let Some((key, read)) = read {
            let some = !read.epochs.is_empty();
            event.leader_epochs = some.then(|| vec![(name(key), read.epochs)]);
            let some = !read.payload_errors.is_empty();
            event.payload_errors = some.then_some(read.payload_errors);
        }
        event
    }

    fn fail(&self, number: u64, code: &str) -> Result<(), Failure> {
        let mut event = self.poll(number, EventKind::Fail, None);
        event.error = Some(EventError::code(code));
        Ok(self.history.record([event])?)
    }
}
