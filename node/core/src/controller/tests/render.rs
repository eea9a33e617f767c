//! How the controller's scripts show records, replies and partitions: one line each.

use std::fmt::Write as _;

use crate::controller::reply::*;
use crate::controller::{Output, Reply};
use crate::error::Refusal;
use crate::metadata::record::*;
use crate::metadata::{Image, Record};
use crate::types::*;

pub fn output(image: &Image, output: &Output) -> String {
    match output {
        Output::Append { base, records } => {
            let lines = (base.0..).zip(records);
            lines.map(|(at, one)| format!("@{at} {}\n", record(image, one))).collect()
        }
        Output::Reply { token, reply } => format!("> #{} {}\n", token.0, self::reply(image, reply)),
    }
}

pub fn ids(brokers: &[BrokerId]) -> String {
    brokers.iter().map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

fn leader(leader: Option<BrokerId>) -> String {
    leader.map_or("none".to_owned(), |id| id.to_string())
}

pub fn state(state: &PartitionState) -> String {
    format!(
        "replicas {} isr {} leader {} epoch {} version {}{}",
        ids(&state.replicas),
        ids(&state.isr),
        leader(state.leader),
        state.leader_epoch,
        state.partition_epoch,
        if state.recovering { " recovering" } else { "" }
    )
}

fn name(image: &Image, id: PartitionId) -> String {
    let topic = image.topics.get(&id.topic).map_or("?", |topic| topic.name.as_str());
    format!("{topic}-{}", id.index)
}

fn record(image: &Image, record: &Record) -> String {
    match record {
        Record::Topic(topic) => format!("topic {}", topic.name),
        Record::Partition(p) => format!(
            "partition {} replicas {} isr {} leader {}",
            name(image, p.partition),
            ids(&p.replicas),
            ids(&p.isr),
            leader(p.leader)
        ),
        Record::PartitionChange(p) => format!("change {}{}", name(image, p.partition), change(p)),
        Record::RemoveTopic(_) => "remove topic".to_owned(),
        Record::Config(c) => {
            format!("config {:?} {}={}", c.resource, c.name, c.value.as_deref().unwrap_or("-"))
        }
        Record::RegisterBroker(b) => {
            let fenced = if b.fenced { "fenced" } else { "unfenced" };
            format!("register {} epoch {} {fenced}", b.broker, b.broker_epoch)
        }
        Record::BrokerRegistrationChange(b) => {
            format!("broker {} fenced {:?} stops {}", b.broker, b.fenced, b.in_controlled_shutdown)
        }
        other => format!("{other:?}"),
    }
}

fn change(p: &PartitionChangeRecord) -> String {
    let mut text = String::new();
    let mut add = |part: String| text.write_str(&part).expect("text takes writes");
    if let Some(to) = p.leader {
        add(format!(" leader {}", leader(to)));
    }
    if let Some(isr) = &p.isr {
        add(format!(" isr {}", ids(isr)));
    }
    if let Some(replicas) = &p.replicas {
        add(format!(" replicas {}", ids(replicas)));
    }
    if let Some(recovering) = p.recovering {
        add(format!(" recovering {recovering}"));
    }
    if let Some(elr) = &p.elr {
        add(format!(" elr {}", ids(elr)));
    }
    text
}

fn result<T>(result: &Result<T, Refusal>, ok: impl Fn(&T) -> String) -> String {
    match result {
        Ok(value) => ok(value),
        Err(refusal) => refusal.to_string(),
    }
}

fn plain(done: &Result<(), Refusal>) -> String {
    result(done, |()| "ok".to_owned())
}

fn reply(image: &Image, reply: &Reply) -> String {
    match reply {
        Reply::RegisterBroker(epoch) => result(epoch, |epoch| format!("epoch {epoch}")),
        Reply::Heartbeat(answer) => result(answer, heartbeat),
        Reply::AlterPartition(outcomes) => result(outcomes, |o| alter_partition(image, o)),
        Reply::AllocateProducerIds(block) => {
            result(block, |block| format!("{} ids from {}", block.len, block.first))
        }
        Reply::CreateTopics(topics) => list(topics.iter().map(|(name, topic)| {
            let created = |t: &CreatedTopic| format!("{} x {}", t.partitions, t.replication_factor);
            format!("{name}: {}", result(topic, created))
        })),
        Reply::DeleteTopics(topics) => {
            list(topics.iter().map(|topic| result(topic, |(name, _)| format!("{name} deleted"))))
        }
        Reply::ElectLeaders(results) | Reply::AlterReassignments(results) => {
            let one =
                |p: &crate::controller::request::PartitionRef| format!("{}-{}", p.topic, p.index);
            list(results.iter().map(|(p, done)| format!("{}: {}", one(p), plain(done))))
        }
        Reply::ListReassignments(ongoing) => format!("{} under way", ongoing.len()),
        Reply::AlterConfigs(results) => {
            list(results.iter().map(|(r, done)| format!("{r:?}: {}", plain(done))))
        }
        Reply::UnregisterBroker(done) => plain(done),
        Reply::NotController => "not controller".to_owned(),
    }
}

fn heartbeat(answer: &HeartbeatReply) -> String {
    let mut flags = Vec::new();
    flags.push(if answer.caught_up { "caught up" } else { "behind" });
    flags.push(if answer.fenced { "fenced" } else { "unfenced" });
    if answer.should_shut_down {
        flags.push("shut down");
    }
    flags.join(", ")
}

fn alter_partition(image: &Image, outcomes: &[IsrOutcome]) -> String {
    list(outcomes.iter().map(|outcome| match &outcome.result {
        Ok(to) => format!("{}: {}", name(image, outcome.partition), state(to)),
        Err(code) => format!("{}: {code}", name(image, outcome.partition)),
    }))
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}
