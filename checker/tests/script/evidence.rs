//! The evidence that a script builds: events, manifest, metadata, dumps, outcome.

use std::{path::PathBuf, sync::Arc};

use highwater_checker::{Evidence, History, Options};
use highwater_history::{
    EventValue, Key, Manifest, NodeId, Offset, Outcome,
    dump_folder::WholeDump,
    dumps::{DumpBatch, DumpHeader, Moment, ValueRun},
    event::{Event, EventKind, Function, Process},
    manifest::{Expectation, Floor},
    metadata::MetadataRecord,
    outcome::{Assertion, Crash, Ended, LagWindow, Limit, Missing, Recovery},
};
use serde_json::json;

use super::parse::{identity, number, value};

pub(super) const MS: u64 = 1_000_000;

/// What a script has built so far.
#[derive(Default)]
pub struct World {
    events: Vec<Event>,
    pub(super) ms: u64,
    fresh: u64,
    pub(super) evidence: Evidence,
    options: Options,
    epochs: std::collections::BTreeMap<String, i32>,
    quorum_epoch: Option<i32>,
    meanwhile: Vec<Vec<String>>,
    /// Whether the next operation ends only after the one that follows it.
    pub(super) next_overlaps: bool,
    overlapping: Vec<Event>,
}

impl World {
    /// A process that no script names.
    pub fn fresh_process(&mut self) -> u64 {
        self.fresh += 1;
        1000 + self.fresh
    }

    /// An event at the time at which the line's completion will be.
    pub fn event(&self, process: u64, kind: EventKind, f: Function) -> Event {
        Event::new((self.ms + 2) * MS, Process::Client(process), kind, f)
    }

    /// Adds an event, one millisecond after the one before.
    pub fn push(&mut self, mut event: Event) {
        self.ms += 1;
        event.time = self.ms * MS;
        event.index = self.events.len() as u64;
        self.events.push(event);
    }

    /// Adds an operation's completion, then those that waited for it; or lets it wait.
    pub fn complete(&mut self, event: Event) {
        if std::mem::take(&mut self.next_overlaps) {
            self.overlapping.push(event);
            return;
        }
        self.push(event);
        for event in std::mem::take(&mut self.overlapping) {
            self.push(event);
        }
    }

    /// The evidence as a whole.
    pub fn finish(mut self) -> (Evidence, Options) {
        self.evidence.history = History::Events(self.events);
        (self.evidence, self.options)
    }

    /// A line that is no operation.
    pub fn evidence_line(&mut self, command: &str, args: &[&str]) -> Result<(), String> {
        match (command, args) {
            ("promise", [text]) => {
                self.options.promise.set(text).map_err(|error| error.to_string())?;
            }
            ("within", limits) => self.within(limits)?,
            ("run", promises) => {
                for text in promises {
                    self.manifest().promises.run.set(text).map_err(|error| error.to_string())?;
                }
            }
            ("topic", [name, promises @ ..]) => {
                for text in promises {
                    let topics = &mut self.manifest().promises.topics;
                    let promise = topics.entry((*name).to_owned()).or_default();
                    promise.set(text).map_err(|error| error.to_string())?;
                }
            }
            ("floor", [name, wanted]) => {
                let floor = Floor { floor: (*name).to_owned(), wanted: number(wanted)? };
                self.manifest().workload.floors.push(floor);
            }
            ("open", [processes, settings @ ..]) => self.open(processes, settings)?,
            ("leader", [key, node, flags @ ..]) => self.elect(key, number(node)?, flags),
            ("meanwhile", words) => {
                self.meanwhile.push(words.iter().map(|word| (*word).to_owned()).collect());
            }
            ("log", [key, node, rest @ ..]) => {
                let node = number(node)?;
                let end = self.dump(key, node, Moment::Final, rest)?;
                let partition = self.outcome().partitions.entry(Key::from(*key)).or_default();
                partition.leader = Some(node);
                partition.final_read_to = Some(end);
            }
            ("follower", [key, node, rest @ ..]) => {
                self.dump(key, number(node)?, Moment::Final, rest)?;
            }
            ("dump", [key, node, rest @ ..]) => {
                self.dump(key, number(node)?, Moment::BeforeRestart, rest)?;
            }
            ("isr", [key, nodes]) => {
                let isr = nodes.split(',').map(number).collect::<Result<_, _>>()?;
                self.outcome().partitions.entry(Key::from(*key)).or_default().isr = isr;
            }
            ("quorum-epoch", [epoch]) => self.quorum_epoch = Some(number(epoch)?),
            ("metadata-cut", []) => self.evidence.metadata_is_cut = true,
            ("without", [kinds]) => {
                for kind in kinds.split(',') {
                    let kind = serde_json::from_value(json!(kind)).map_err(|e| e.to_string())?;
                    self.manifest().target.without.push(kind);
                }
            }
            ("leads", [key, node]) => {
                let node = number(node)?;
                let partition = self.outcome().partitions.entry(Key::from(*key)).or_default();
                partition.leader = Some(node);
            }
            ("read-to", [key, to]) => {
                let to = number(to)?;
                let partition = self.outcome().partitions.entry(Key::from(*key)).or_default();
                partition.final_read_to = Some(to);
            }
            ("tell", []) | ("tell", [_]) => {}
            ("fault", [f, node, more @ ..]) => self.fault(f, number(node)?, more)?,
            ("wait", [ms]) => self.ms += number::<u64>(ms)?,
            _ if self.cluster_line(command, args)? => {}
            _ => self.outcome_line(command, args)?,
        }
        Ok(())
    }

    /// A line about how the run ended.
    fn outcome_line(&mut self, command: &str, args: &[&str]) -> Result<(), String> {
        match (command, args) {
            ("stuck", [key, condition, seen @ ..]) => self.stuck(key, condition, seen),
            ("lag", lasted) => {
                let lasted: u64 = lasted.first().map_or(Ok(300), |ms| number(ms))?;
                let lag = lasted * MS;
                self.outcome().lag_windows.push(LagWindow { from: 0, to: lag, lag });
            }
            ("limit", [name, limit, took]) => {
                let (name, limit_ms, took_ms) = ((*name).to_owned(), number(limit)?, number(took)?);
                let to = took_ms * MS;
                let limit = Limit { name, key: None, limit_ms, took_ms, from: 0, to };
                self.outcome().limits.push(limit);
            }
            ("assert", [held, claim @ ..]) => self.assert(held, &claim.join(" "))?,
            ("expect", [count, bounds @ ..]) => self.expect(count, bounds)?,
            ("crash", [node, ended @ ..]) => {
                let (node, ended) = (number(node)?, ended.join(" "));
                self.outcome().crashes.push(Crash { node, incarnation: 0, ended });
            }
            ("ended", ["complete"]) => self.outcome().ended = Ended::Complete,
            ("ended", ["interrupted"]) => self.outcome().ended = Ended::Interrupted,
            _ => return Err("this is no line of the notation".to_owned()),
        }
        Ok(())
    }

    fn within(&mut self, limits: &[&str]) -> Result<(), String> {
        let limits_of = &mut self.options.limits;
        for text in limits {
            let (name, span) = text.split_once('=').ok_or("NAME=TIME is needed")?;
            let limit = match name {
                "unavailable" => &mut limits_of.unavailable,
                "recovery" => &mut limits_of.recovery,
                "lag" => &mut limits_of.lag,
                _ => return Err(format!("unknown limit {name}")),
            };
            *limit = Some(span.parse()?);
        }
        Ok(())
    }

    fn assert(&mut self, held: &str, claim: &str) -> Result<(), String> {
        let held = match held {
            "held" => Some(true),
            "broken" => Some(false),
            "undecided" => None,
            _ => return Err("held, broken or undecided is needed".to_owned()),
        };
        let (claim, seen) = (claim.to_owned(), json!({"from": 1, "to": 2}));
        self.outcome().assertions.push(Assertion { claim, held, seen, reason: None });
        Ok(())
    }

    fn expect(&mut self, count: &str, bounds: &[&str]) -> Result<(), String> {
        let bound = |sign| {
            let bound = bounds.iter().find_map(|bound| bound.strip_prefix(sign));
            bound.map(number).transpose()
        };
        let (at_least, at_most) = (bound(">=")?, bound("<=")?);
        let expectation = Expectation { count: count.to_owned(), at_least, at_most };
        self.manifest().expect.push(expectation);
        Ok(())
    }

    pub(super) fn manifest(&mut self) -> &mut Manifest {
        self.evidence.manifest.get_or_insert_with(|| {
            serde_json::from_value(json!({
                "format": 1, "run": "r", "seed": 1, "command": [], "commit": "c",
                "target": {"name": "node"},
                "timing": {"profile": "fast", "session_ms": 1, "heartbeat_ms": 1,
                           "lag_limit_ms": 1},
                "workload": {"name": "log"},
                "clocks": {"wall_ns": 0, "monotonic_ns": 0},
                "machine": {"system": "s", "cpus": 2, "memory_bytes": 1}
            }))
            .expect("the smallest manifest")
        })
    }

    pub(super) fn outcome(&mut self) -> &mut Outcome {
        self.manifest();
        let at = self.ms * MS;
        self.evidence.outcome.get_or_insert_with(|| {
            let recovery = Recovery {
                recovered: true,
                healed_at: at,
                ended_at: at,
                limit_ms: 1000,
                missing: Vec::new(),
            };
            Outcome { recovery: Some(recovery), ..Outcome::new(Ended::Complete, at) }
        })
    }

    fn stuck(&mut self, key: &str, condition: &str, seen: &[&str]) {
        let recovery = self.outcome().recovery.as_mut().expect("a script's outcome has one");
        recovery.recovered = false;
        recovery.healed_at = 0;
        recovery.ended_at = (recovery.limit_ms + 100) * MS;
        recovery.missing.push(Missing {
            key: Some(Key::from(key)),
            condition: condition.to_owned(),
            seen: seen.join(" "),
        });
    }

    fn open(&mut self, processes: &str, settings: &[&str]) -> Result<(), String> {
        let numbers = processes.split(',').map(number).collect::<Result<Vec<u64>, _>>()?;
        let mut client = json!({"client": self.events.len(), "kind": "both", "processes": numbers});
        for setting in settings {
            let (name, text) = setting.split_once('=').ok_or("NAME=VALUE is needed")?;
            match name {
                "role" => client["role"] = json!(text),
                "acks" => client["acks"] = json!(text),
                "idempotence" => client["idempotence"] = json!(text == "true"),
                "isolation" => client["isolation"] = json!(text),
                "group" => client["group"] = json!(text),
                "txid" => client["transactional_id"] = json!(text),
                "pid" => {
                    let id = identity(&format!("{text}.0"))?;
                    client["producer_id"] = json!(id.producer_id);
                    client["producer_epoch"] = json!(id.producer_epoch);
                }
                _ => return Err(format!("unknown setting {name}")),
            }
        }
        let client = serde_json::from_value(client).map_err(|error| error.to_string())?;
        let event = Event::new(0, Process::Harness, EventKind::Info, Function::Open)
            .with_value(EventValue::Open(client));
        self.push(event);
        Ok(())
    }

    /// Lets happen what was to come meanwhile; gives the nanoseconds that it took.
    pub fn pass_meanwhile(&mut self) -> Result<u64, String> {
        let from = self.ms;
        for line in std::mem::take(&mut self.meanwhile) {
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            match words[..] {
                ["config" | "wait", ..] => self.evidence_line(words[0], &words[1..])?,
                [key, node, ref flags @ ..] => self.elect(key, number(node)?, flags),
                _ => return Err("an election, `config` or `wait` is needed".to_owned()),
            }
        }
        Ok((self.ms - from) * MS)
    }

    /// Elects for several partitions at once, of keys between commas.
    fn elect(&mut self, keys: &str, node: NodeId, flags: &[&str]) {
        self.manifest();
        self.ms += 20;
        keys.split(',').for_each(|key| self.register(key, node, flags.contains(&"unclean")));
        self.ms += 20;
        for key in keys.split(',') {
            let (topic, nth) = partition(key);
            let topic = json!({"key": key, "topic": topic, "topic_id": topic, "partition": nth});
            let topic = serde_json::from_value(topic).expect("a whole open-topic");
            let event = Event::new(0, Process::Harness, EventKind::Info, Function::OpenTopic)
                .with_value(EventValue::OpenTopic(topic));
            self.push(event);
        }
    }

    fn register(&mut self, key: &str, node: NodeId, unclean: bool) {
        let (topic, nth) = partition(key);
        let epoch = self.epochs.get(key).map_or(0, |epoch| epoch + 1);
        self.epochs.insert(key.to_owned(), epoch);
        let mut fields = json!({"topicId": topic, "partitionId": nth, "leader": node});
        if epoch == 0 {
            self.metadata("TopicRecord", json!({"name": topic, "topicId": topic}));
            fields["leaderEpoch"] = json!(0);
            fields["isr"] = json!([1, 2, 3]);
            fields["replicas"] = json!([1, 2, 3]);
            self.metadata("PartitionRecord", fields);
            return;
        }
        if unclean {
            fields["isr"] = json!([node]);
            fields["leaderRecoveryState"] = json!(1);
        }
        self.metadata("PartitionChangeRecord", fields);
    }

    pub(super) fn metadata(&mut self, kind: &str, fields: serde_json::Value) {
        let offset = self.evidence.metadata.len() as Offset;
        self.evidence.metadata.push(MetadataRecord {
            offset,
            epoch: self.quorum_epoch.unwrap_or(1),
            timestamp_ms: self.ms as i64,
            kind: kind.to_owned(),
            fields,
        });
    }

    /// Adds a dump and returns where it ends.
    fn dump(
        &mut self,
        key: &str,
        node: NodeId,
        moment: Moment,
        words: &[&str],
    ) -> Result<Offset, String> {
        self.outcome();
        let mut header = DumpHeader {
            moment,
            at: self.ms * MS,
            node,
            key: Key::from(key),
            topic: key.to_owned(),
            partition: 0,
            from: 0,
            log_start: None,
            hw: None,
            epochs: Vec::new(),
            same_as: None,
        };
        let mut lines = Vec::new();
        let mut hw_told = true;
        for word in words {
            match word.split_once('=') {
                Some(("hw", "?")) => hw_told = false,
                Some(("hw", hw)) => header.hw = Some(number(hw)?),
                Some(("from", from)) => {
                    header.from = number(from)?;
                    // A final dump begins where its log does.
                    header.log_start = Some(header.from).filter(|_| moment == Moment::Final);
                }
                Some(("epochs", epochs)) => {
                    for pair in epochs.split(',') {
                        let (epoch, start) = pair.split_once(':').ok_or("EPOCH:START is needed")?;
                        header.epochs.push((number(epoch)?, number(start)?));
                    }
                }
                _ => lines.push(batch(word)?),
            }
        }
        let end = lines.last().map_or(header.from, |batch| batch.last_offset + 1);
        header.hw = header.hw.or(hw_told.then_some(end));
        let name = PathBuf::from(format!("{key}-{node}-{}", self.evidence.dumps.len()));
        let lines = Arc::new(lines);
        self.evidence.dumps.push((name, WholeDump { header, lines }));
        Ok(end)
    }

    fn fault(&mut self, f: &str, node: NodeId, more: &[&str]) -> Result<(), String> {
        let mut value = json!({"nodes": [node]});
        for word in more {
            let (name, text) = word.split_once('=').ok_or("NAME=VALUE is needed")?;
            value[name] = text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
        }
        let event = Event::new(0, Process::Nemesis, EventKind::Info, Function::from(f));
        self.push(event.with_value(EventValue::Other(value)));
        Ok(())
    }
}

/// Topic and number of a partition; a key without a number is partition 0 of its own topic.
pub(super) fn partition(key: &str) -> (&str, i32) {
    let numbered = key.rsplit_once('-').and_then(|(t, nth)| Some((t, nth.parse().ok()?)));
    numbered.unwrap_or((key, 0))
}

/// `offset:value/epoch#producer.epoch.sequence`, all but the first two left out at will.
fn batch(word: &str) -> Result<DumpBatch, String> {
    let (word, id) = word.split_once('#').map_or((word, None), |(word, id)| (word, Some(id)));
    let (word, epoch) = word.split_once('/').map_or((word, "0"), |(word, epoch)| (word, epoch));
    let (offsets, text) = word.split_once(':').ok_or("OFFSET:VALUE is needed")?;
    let (first, last) = offsets.split_once('-').unwrap_or((offsets, offsets));
    let (text, damaged) = text.strip_suffix('~').map_or((text, false), |text| (text, true));
    let run = match text {
        "" => None,
        "!" => Some(ValueRun::Unreadable(())),
        text => Some(ValueRun::One(value(text)?)),
    };
    let id = id.map(identity).transpose()?;
    let crc = match run {
        Some(ValueRun::One(value)) => value as u32,
        Some(ValueRun::Run(..) | ValueRun::Unreadable(())) | None => 0,
    };
    Ok(DumpBatch {
        base_offset: number(first)?,
        last_offset: number(last)?,
        epoch: number(epoch)?,
        producer_id: id.map_or(-1, |id| id.producer_id),
        producer_epoch: id.map_or(-1, |id| id.producer_epoch),
        sequence: id.map_or(-1, |id| id.sequence),
        control: false,
        crc,
        damage: damaged.then(|| "CRC is 1, bytes say 2".into()),
        values: Vec::from_iter(run).into(),
        offset_deltas: None,
    })
}
