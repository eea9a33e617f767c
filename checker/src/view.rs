//! What a claim is shown: the run, or one key of it, with everything known beside the history.

use std::sync::OnceLock;

use highwater_history::{
    LeaderEpoch, Offset, Promise, TimeNs,
    event::{Acks, Isolation},
    samples::{PartitionState, ReplicaState},
    verdict::Finding,
};

use crate::{
    claim::Need,
    data_loss::DataLoss,
    evidence::Evidence,
    finding::Permission,
    index::{
        Index, KeyId, KeyIndex,
        operations::{OpId, Operation, Requests},
        records::RecordId,
    },
    leadership::{CLOCK_SLACK_NS, Election, Leadership},
    limits::Limits,
    permission::CommittedTo,
    registry::{Registration, Registry},
    replaced::Begun,
    replicas::{Dump, FinalLog, batch_at, dumps_of, holders_of, without},
    told::{Sayings, Told},
};

/// A whole run.
#[derive(Debug)]
pub struct RunView<'a> {
    /// The evidence as read.
    pub evidence: &'a Evidence,
    /// The history, indexed.
    pub index: &'a Index,
    /// Who led when.
    pub leadership: &'a Leadership,
    /// What the metadata log says.
    pub registry: &'a Registry,
    /// What faults may have cost nodes of their data.
    pub losses: &'a [DataLoss],
    /// What nodes said of themselves.
    pub sayings: &'a Sayings<'a>,
    /// What the user said was promised, whatever the evidence says.
    pub said: &'a Promise,
    /// What the user says that waits may take.
    pub limits: Limits,
    /// Whether the end of the history is missing: what came after is not known.
    pub is_cut: bool,
}

/// One key of a run.
#[derive(Debug)]
pub struct KeyView<'a> {
    /// The run.
    pub run: &'a RunView<'a>,
    /// The key's number.
    pub id: KeyId,
    /// What the history says of it.
    pub key: &'a KeyIndex,
    /// Every dump of it.
    pub dumps: Vec<Dump<'a>>,
    /// What the cluster remembers of it, when that is known.
    pub log: Option<FinalLog<'a>>,
    /// Its elections.
    pub elections: &'a [Election],
    pub(crate) promise: Promise,
    pub(crate) committed: OnceLock<CommittedTo>,
    pub(crate) begun: OnceLock<Begun>,
}

impl<'a> RunView<'a> {
    /// Why the order of events of different processes proves nothing: a history without a manifest
    /// may be of clocks that were never compared.
    pub fn untimed(&self) -> Option<Permission> {
        self.evidence.untimed()
    }

    /// Whether there is evidence of a kind.
    pub(crate) fn has(&self, need: Need) -> bool {
        let Evidence { dumps, metadata, samples, outcome, .. } = self.evidence;
        match need {
            Need::Dumps => !dumps.is_empty(),
            Need::Elections => !metadata.is_empty() || !samples.is_empty(),
            Need::Samples => !samples.is_empty(),
            Need::Outcome => outcome.is_some(),
        }
    }

    /// Every key of the part that is judged.
    pub fn keys(&'a self) -> Vec<KeyView<'a>> {
        let keys = self.index.keys.iter().zip(0..);
        let own = keys.filter(|(_, id)| self.index.part.owns(*id));
        own.map(|(key, id)| KeyView::new(self, id, key)).collect()
    }
}

impl<'a> KeyView<'a> {
    fn new(run: &'a RunView<'a>, id: KeyId, key: &'a KeyIndex) -> Self {
        let dumps = dumps_of(run.evidence, key);
        let log = FinalLog::of(run.evidence, run.index, key, &dumps);
        let mut promise = Promise::default();
        if let Some(manifest) = &run.evidence.manifest {
            let topic = manifest.promises.topics.get(key.topic_name());
            promise = topic.map_or_else(Promise::default, |topic| promise.or(topic));
            promise = promise.or(&manifest.promises.run);
        }
        let promise = promise.or(&Promise::strongest());
        let elections = run.leadership.of_key(key);
        let (committed, begun) = (OnceLock::new(), OnceLock::new());
        Self { run, id, key, dumps, log, elections, promise, committed, begun }
    }

    /// Its states in the metadata log; none where that is not there or does not know it.
    pub fn states(&self) -> &'a [Registration] {
        self.run.registry.of_key(self.key)
    }

    /// What its replicas said of themselves.
    pub fn replica_samples(&self) -> &'a [Told<'a, ReplicaState>] {
        self.run.sayings.replicas(&self.key.key)
    }

    /// What nodes said of its leadership.
    pub fn partition_samples(&self) -> &'a [Told<'a, PartitionState>] {
        self.run.sayings.partitions(&self.key.key)
    }

    /// Whether something before a time may have cut what was committed: an unclean election, also
    /// one that nothing tells of, or a fault that costs data.
    pub fn may_be_cut_before(&self, time: TimeNs) -> bool {
        let limit = time.saturating_add(CLOCK_SLACK_NS);
        self.unclean_may_be_hidden()
            || (0..self.elections.len()).any(|nth| self.may_cut(nth, limit))
            || self.run.losses.iter().any(|loss| loss.during.0 <= limit)
    }

    /// Whether an election by a time may have cut what was committed: an unclean one of another
    /// than led last. The last leader has everything that was committed (rules 16, 21), though its
    /// election is called unclean when it comes back to an empty ISR and ELR (rule 28).
    fn may_cut(&self, nth: usize, limit: TimeNs) -> bool {
        let (before, election) = (&self.elections[..nth], &self.elections[nth]);
        let led_last = before.iter().rev().find_map(|before| before.leader);
        let comes_back = led_last.is_some() && led_last == election.leader;
        election.unclean && election.at <= limit && !comes_back
    }

    /// Whether compaction may have rewritten its batches, at other times on other replicas.
    pub fn is_compacted(&self) -> bool {
        let topics = self.run.evidence.manifest.iter().flat_map(|m| &m.target.topics);
        let mut configs = topics.filter(|topic| topic.name == self.key.topic_name());
        let policy = configs.find_map(|topic| topic.configs.get("cleanup.policy"));
        policy.is_some_and(|policy| policy.contains("compact"))
    }

    /// An operation.
    pub fn op(&self, op: OpId) -> &'a Operation {
        self.run.index.ops.get(op)
    }

    /// The operation that sent a record.
    pub fn sender(&self, record: RecordId) -> Option<&'a Operation> {
        self.key.records.sender(record).map(|op| self.op(op))
    }

    /// The acks level that a record is judged by: what the user said, else what it was sent with.
    pub fn acks(&self, record: RecordId) -> Acks {
        self.run.said.acks.unwrap_or_else(|| self.sent_acks(record))
    }

    /// The acks level that a record was sent with.
    pub fn sent_acks(&self, record: RecordId) -> Acks {
        let processes = &self.run.index.processes;
        let session = || processes.acks(self.sender(record)?.process);
        let told = if processes.clients.is_empty() { None } else { session() };
        told.or(self.promise.acks).expect("the strongest promise names every setting")
    }

    /// Whether repeats of an operation's batches were to be recognised.
    pub fn idempotence(&self, operation: &Operation) -> bool {
        let session = || self.run.index.processes.client(operation.process)?.idempotence;
        self.run
            .said
            .idempotence
            .or_else(session)
            .or(self.promise.idempotence)
            .expect("the strongest promise names every setting")
    }

    /// What an operation's polls might see.
    pub fn isolation(&self, operation: &Operation) -> Isolation {
        let session = || self.run.index.processes.client(operation.process)?.isolation;
        self.run
            .said
            .isolation
            .or_else(session)
            .or(self.promise.isolation)
            .expect("the strongest promise names every setting")
    }

    /// Whether the topic was promised to allow unclean elections.
    pub fn unclean_promised(&self) -> bool {
        let said = self.run.said.unclean_election;
        said.or(self.promise.unclean_election).expect("the strongest promise names every setting")
    }

    /// The leader epoch that a record was appended under at an offset, as far as anything tells.
    pub fn epoch_of(&self, record: RecordId, offset: Offset) -> Option<LeaderEpoch> {
        let value = self.key.records.value(record);
        let dumped = || {
            let mut batches = self.dumps.iter().filter_map(|(_, d)| batch_at(&d.lines, offset));
            let holds = batches.find(|batch| batch.records().any(|r| r == (offset, Some(value))));
            holds.map(|batch| batch.epoch)
        };
        let of_reads = self.key.reads.epoch_of(offset, record);
        of_reads.or_else(dumped).or_else(|| self.acked_epoch(record))
    }

    /// The leader epoch under which the broker that acknowledged a record led, unless the clocks
    /// leave a doubt. Of several requests an earlier one may have appended it, under an older epoch
    /// (rule 42): then it is not known.
    pub fn acked_epoch(&self, record: RecordId) -> Option<LeaderEpoch> {
        let sender = self.sender(record).filter(|sender| sender.requests != Requests::Many)?;
        let node = sender.node?;
        let (_, last) = Leadership::led_at_latest(self.elections, node, sender.completed_at)?;
        let (_, first) = Leadership::led_at_earliest(self.elections, node, sender.sent_at)?;
        (first.epoch == last.epoch).then_some(first.epoch)
    }

    /// A finding about a record, with the events of its sender and first reader.
    pub fn finding(
        &self,
        record: RecordId,
        offset: Option<Offset>,
        rule: u16,
        evidence: &str,
        why: String,
    ) -> Finding {
        let records = &self.key.records;
        let mut events = self.sender(record).map_or_else(Vec::new, Operation::events);
        events.extend(records.reader(record).and_then(|op| self.op(op).completion()));
        Finding {
            value: Some(records.value(record)),
            ..self.finding_at(offset, rule, evidence, events, why)
        }
    }

    /// A finding about an offset.
    pub fn finding_at(
        &self,
        offset: Option<Offset>,
        rule: u16,
        evidence: &str,
        events: Vec<u64>,
        why: String,
    ) -> Finding {
        Finding {
            key: Some(self.key.key.clone()),
            offset,
            rule,
            evidence: evidence.to_owned(),
            events,
            why,
            ..Finding::default()
        }
    }

    /// What each replica held of a record and when, as the end of a sentence.
    pub fn held_by(&self, record: RecordId, offset: Option<Offset>) -> String {
        if self.dumps.is_empty() {
            return String::new();
        }
        let value = self.key.records.value(record);
        let holders = holders_of(&self.dumps, value);
        let mut said = match &holders[..] {
            [] => "; no dump holds it".to_owned(),
            _ => format!("; held by {}", holders.join(", ")),
        };
        let others = offset.map(|offset| without(&self.dumps, value, offset)).unwrap_or_default();
        if !others.is_empty() {
            said += &format!("; at the end {}", others.join(", "));
        }
        said
    }
}
