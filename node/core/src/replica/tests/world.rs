//! One replica with its disk, its brokers and its clock, driven by lines of text.

use std::fmt::Write as _;

use super::disk::Disk;
use super::render;
use crate::replica::*;
use crate::rule::Rules;
use crate::rule::truncation::LeaderRange;
use crate::script::Line;
use crate::types::*;

/// The replica of broker 1, and all that it needs.
pub struct World {
    pub replica: Replica,
    pub disk: Disk,
    pub brokers: Brokers,
    pub now: Time,
    pub rules: Rules,
    pub out: Outputs,
    pub proposal: Option<IsrProposal>,
    cut: Option<Output>,
}

pub const PARTITION: PartitionId = PartitionId { topic: TopicId(7), index: 0 };
const CONFIG: ReplicaConfig = ReplicaConfig { lag_limit_ms: 1000, min_isr: 1 };

impl World {
    /// Broker 1 with an empty log; brokers 1, 2, 3 are registered with epochs 11, 12, 13.
    pub fn new() -> World {
        let view =
            |epoch| BrokerView { epoch: BrokerEpoch(epoch), fenced: false, shutting_down: false };
        World {
            replica: replica(&Rules::default(), LoadedLog::default()),
            disk: Disk::default(),
            brokers: (1..=3).map(|id| (BrokerId(id), view(10 + i64::from(id)))).collect(),
            now: Time(0),
            rules: Rules::default(),
            out: Vec::new(),
            proposal: None,
            cut: None,
        }
    }

    /// Executes one line and tells what came of it.
    pub fn execute(&mut self, line: &Line) -> String {
        self.out.clear();
        let mut told = self.dispatch(line);
        for output in std::mem::take(&mut self.out) {
            match &output {
                Output::ProposeIsr(proposal) => self.proposal = Some(proposal.clone()),
                Output::Truncate { .. } | Output::TruncateFully { .. } => {
                    self.cut = Some(output.clone());
                }
                _ => {}
            }
            writeln!(told, "{}", render::output(&output)).expect("text takes writes");
        }
        self.replica.validate();
        writeln!(told, "= {}", render::replica(&self.replica)).expect("text takes writes");
        told
    }

    fn dispatch(&mut self, line: &Line) -> String {
        let Self { now, rules, brokers, .. } = self;
        let (now, rules, brokers) = (*now, *rules, brokers.clone());
        let env = Env { now, rules: &rules, brokers: &brokers };
        match line.command {
            "restart" => self.restart(line),
            "time" => self.now = self.now.plus_ms(or(line, "ms", 0) as u64),
            "mutant" => self.mutate(line),
            "broker" => self.set_broker(line),
            "config" => self.configure(&env, line),
            "metadata" => self.replica.apply_metadata(&env, state(line), &mut self.out),
            "append" => return self.append(&env, line),
            "written" => self.written(&env, line),
            "fetch" => return self.fetch(&env, line),
            "readable" => return render::answer(self.replica.readable(&env, &query(line))),
            "check" => self.replica.check_isr(&env, &mut self.out),
            "answer" => self.answer(&env, line),
            "copied" => self.copied(&env, line),
            "diverged" => self.replica.diverged(&env, epoch_end(line), &mut self.out),
            "range" => self.replica.out_of_range(&env, range(line), &mut self.out),
            "truncated" => self.truncated(&env),
            "ack" => return self.ack(&env, line),
            "latest" => return self.latest(&env, line),
            "epoch-end" => return self.epoch_end(&env, line),
            "position" => return render::position(self.replica.position()),
            "producers" => return render::producers(self.replica.producers()),
            "expire" => self.replica.expire_producers(or(line, "now", 0), or(line, "limit", 0)),
            "fail" => self.replica.failed(&mut self.out),
            other => panic!("unknown command {other}"),
        }
        String::new()
    }

    /// A new process over the same disk; `hw` is what its checkpoint said.
    fn restart(&mut self, line: &Line) {
        if let Some(start) = line.number("start") {
            self.disk.restart_at(Offset(start));
        }
        let loaded = self.disk.loaded(Offset(or(line, "hw", 0)));
        self.replica = replica(&self.rules, loaded);
    }

    fn mutate(&mut self, line: &Line) {
        let id = line.text("id").expect("mutant id=ID");
        (crate::mutant::find(id).expect("a known mutant").apply)(&mut self.rules);
    }

    fn set_broker(&mut self, line: &Line) {
        let view = BrokerView {
            epoch: BrokerEpoch(or(line, "epoch", 0)),
            fenced: line.has("fenced"),
            shutting_down: line.has("stopping"),
        };
        self.brokers.insert(BrokerId(or(line, "id", 0) as i32), view);
    }

    fn configure(&mut self, env: &Env, line: &Line) {
        let config = ReplicaConfig {
            lag_limit_ms: or(line, "lag", 1000) as u64,
            min_isr: or(line, "min", 1) as usize,
        };
        self.replica.configure(env, config, &mut self.out);
    }

    fn append(&mut self, env: &Env, line: &Line) -> String {
        let producer = line.number("pid").map(|id| ProducerStamp {
            id: ProducerId(id),
            epoch: ProducerEpoch(or(line, "epoch", 0) as i16),
            base_sequence: or(line, "seq", 0) as i32,
        });
        let batch = BatchMeta {
            base_offset: Offset(0),
            last_offset: Offset(or(line, "n", 1) - 1),
            leader_epoch: LeaderEpoch(-1),
            max_timestamp_ms: or(line, "ts", 0),
            size_bytes: or(line, "size", 100) as u32,
            producer,
        };
        let appended = self.replica.append(env, &batch, acks(line));
        if let Ok(at) = appended
            && at.repeat_of.is_none()
        {
            self.disk.batches.push(batch.placed(at.base_offset, at.leader_epoch));
        }
        render::appended(appended)
    }

    /// `written segment=3`: the newest batch is in the segment that begins at 3.
    fn written(&mut self, env: &Env, line: &Line) {
        if let Some(start) = line.number("segment") {
            self.replica.in_segment(Offset(start));
        }
        let end = line.number("end").map_or(self.disk.end(), Offset);
        self.replica.written(env, end, &mut self.out);
    }

    fn fetch(&mut self, env: &Env, line: &Line) -> String {
        let answer = self.replica.fetch(env, &query(line), &mut self.out);
        render::answer(answer)
    }

    fn answer(&mut self, env: &Env, line: &Line) {
        let sent = self.proposal.clone().expect("a proposal to answer");
        let committed = state(line);
        let answer = match line.text("error") {
            None => Ok(&committed),
            Some("not-made") => Err(IsrRefusal::NotMade),
            Some("outdated") => Err(IsrRefusal::Outdated),
            Some(_) => Err(IsrRefusal::Unknown),
        };
        self.replica.isr_answered(env, &sent, answer, &mut self.out);
    }

    /// `copied n=3 of=1 hw=2`: three one-record batches of epoch 1 go to the end of the log.
    fn copied(&mut self, env: &Env, line: &Line) {
        let start = self.disk.end().0;
        let batch = |base| BatchMeta {
            base_offset: Offset(base),
            last_offset: Offset(base),
            leader_epoch: LeaderEpoch(or(line, "of", 0) as i32),
            max_timestamp_ms: 0,
            size_bytes: 100,
            producer: line.number("pid").map(|id| ProducerStamp {
                id: ProducerId(id),
                epoch: ProducerEpoch(0),
                base_sequence: (base - start) as i32,
            }),
        };
        let batches: Vec<BatchMeta> = (start..start + or(line, "n", 1)).map(batch).collect();
        self.replica.copied(env, &batches, Offset(or(line, "hw", 0)), &mut self.out);
        self.disk.batches.extend(batches);
    }

    fn truncated(&mut self, env: &Env) {
        match self.cut.take().expect("a cut to confirm") {
            Output::TruncateFully { start } => self.disk.restart_at(start),
            Output::Truncate { to } => self.disk.cut(to),
            other => panic!("{other:?} is no cut"),
        }
        let producers = self.disk.loaded(Offset(0)).producers;
        self.replica.truncated(env, producers, &mut self.out);
    }

    fn ack(&self, env: &Env, line: &Line) -> String {
        let at = Offset(or(line, "at", 0));
        format!("ack {:?}\n", self.replica.acknowledges(env, acks(line), at))
    }

    fn latest(&self, env: &Env, line: &Line) -> String {
        let reader = query(line).reader;
        match self.replica.visibility(env, reader, epoch(line, "epoch")) {
            Err(error) => format!("refused {error:?}\n"),
            Ok(v) => format!("bound {} end {:?} epoch {}\n", v.bound, v.end, v.leader_epoch),
        }
    }

    fn epoch_end(&self, env: &Env, line: &Line) -> String {
        let of = epoch(line, "of").expect("epoch-end of=EPOCH");
        match self.replica.epoch_end(env, epoch(line, "epoch"), of) {
            Err(error) => format!("refused {error:?}\n"),
            Ok(None) => "unknown\n".to_owned(),
            Ok(Some(end)) => format!("epoch {} ends at {}\n", end.epoch, end.end),
        }
    }
}

fn replica(rules: &Rules, log: LoadedLog) -> Replica {
    Replica::new(PARTITION, BrokerId(1), CONFIG, rules, log)
}

/// `metadata leader=1 epoch=2 version=5 replicas=1,2,3 isr=1,2`.
fn state(line: &Line) -> PartitionState {
    PartitionState {
        replicas: brokers(line, "replicas"),
        isr: brokers(line, "isr"),
        leader: line.number("leader").map(|id| BrokerId(id as i32)),
        leader_epoch: LeaderEpoch(or(line, "epoch", 0) as i32),
        partition_epoch: PartitionEpoch(or(line, "version", 0) as i32),
        recovering: line.has("recovering"),
    }
}

/// `fetch by=2 at=5 epoch=1 last=0`: `by` is a follower, `consumer`, `committed` or `anywhere`.
fn query(line: &Line) -> FetchQuery {
    let reader = match line.text("by").unwrap_or("consumer") {
        "consumer" => Reader::Consumer(Isolation::HighWatermark),
        "committed" => Reader::Consumer(Isolation::LastStable),
        "anywhere" => Reader::Anywhere(Isolation::HighWatermark),
        "debugger" => Reader::Anywhere(Isolation::LogEnd),
        id => {
            let id: i32 = id.parse().expect("by=BROKER");
            let epoch = BrokerEpoch(or(line, "as", i64::from(10 + id)));
            Reader::Follower { id: BrokerId(id), epoch }
        }
    };
    FetchQuery {
        reader,
        offset: Offset(or(line, "at", 0)),
        leader_epoch: epoch(line, "epoch"),
        last_fetched_epoch: epoch(line, "last"),
    }
}

fn acks(line: &Line) -> Acks {
    match line.text("acks").unwrap_or("all") {
        "0" => Acks::None,
        "1" => Acks::Leader,
        _ => Acks::All,
    }
}

fn epoch_end(line: &Line) -> EpochEnd {
    let epoch = epoch(line, "epoch").expect("diverged epoch=EPOCH");
    EpochEnd { epoch, end: Offset(or(line, "end", 0)) }
}

fn range(line: &Line) -> LeaderRange {
    LeaderRange { start: Offset(or(line, "start", 0)), end: Offset(or(line, "end", 0)) }
}

fn or(line: &Line, key: &str, default: i64) -> i64 {
    line.number(key).unwrap_or(default)
}

fn brokers(line: &Line, key: &str) -> Vec<BrokerId> {
    let list = line.text(key).unwrap_or("1,2,3").split(',');
    list.map(|id| BrokerId(id.parse().expect("a broker id"))).collect()
}

fn epoch(line: &Line, key: &str) -> Option<LeaderEpoch> {
    line.number(key).map(|e| LeaderEpoch(e as i32))
}
