//! What the cluster says of itself in a script: the metadata log, samples, faults in force.

use highwater_history::{
    EventValue, Key, NodeId, Offset,
    event::{Event, EventKind, Function, Process},
    manifest::{Node, Topic},
    outcome::{FaultOutcome, FaultStatus},
    samples::{PartitionState, ReplicaState, Said, Sample},
};
use serde_json::{Value, json};

use super::{
    evidence::{MS, World, partition},
    parse::number,
};

impl World {
    /// A line about the cluster; whether it is one.
    pub fn cluster_line(&mut self, command: &str, args: &[&str]) -> Result<bool, String> {
        match (command, args) {
            ("sample", [key, node, hw, rest @ ..]) => {
                let state = replica(key, hw, rest)?;
                self.sample(number(node)?, Said::Replica(state));
            }
            ("silent", [node]) => {
                let error = "no answer".to_owned();
                self.sample(number(node)?, Said::Silent { error });
            }
            ("told-leader", [key, node, epoch, rest @ ..]) => {
                self.told_leader(key, number(node)?, number(epoch)?, rest)?;
            }
            ("change", [key, words @ ..]) => self.change(key, words)?,
            ("broker", [node, what]) => self.broker(number(node)?, what)?,
            ("feature", [name, level]) => {
                let fields = json!({"name": name, "featureLevel": number::<i16>(level)?});
                self.metadata("FeatureLevelRecord", fields);
            }
            ("config", [topic, name, value]) => {
                let fields =
                    json!({"resourceType": 2, "resourceName": topic, "name": name, "value": value});
                self.metadata("ConfigRecord", fields);
            }
            ("block", [next]) => {
                let next: i64 = number(next)?;
                self.metadata("ProducerIdsRecord", json!({"nextProducerId": next}));
            }
            ("struck", [fault, nodes, cuts @ ..]) => self.struck(fault, nodes, cuts)?,
            ("lag-limit", [ms]) => self.manifest().timing.lag_limit_ms = number(ms)?,
            ("controller", [node]) => {
                let (id, roles) = (number(node)?, vec!["controller".to_owned()]);
                self.manifest().target.nodes.push(Node { id, roles, ..Node::default() });
            }
            ("compacted" | "retained", [name]) => {
                let (setting, value) = match command {
                    "compacted" => ("cleanup.policy", "compact"),
                    _ => ("retention.bytes", "1000"),
                };
                let configs = [(setting.to_owned(), value.to_owned())].into();
                let topic = Topic { name: (*name).to_owned(), configs, ..Topic::default() };
                self.manifest().target.topics.push(topic);
            }
            ("acted", [kind, nodes, from, to, links @ ..]) => {
                let links = links.iter().map(|link| (link.replace("->", " -> "), json!({})));
                let proof = Value::Object(links.collect());
                let fault = FaultOutcome {
                    kind: (*kind).to_owned(),
                    targets: nodes.split(',').map(str::to_owned).collect(),
                    status: FaultStatus::Installed,
                    reason: None,
                    from: Some(number::<u64>(from)? * MS),
                    to: Some(number::<u64>(to)? * MS),
                    proof,
                };
                self.outcome().faults.push(fault);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A fault that cost nodes data: `NODE:TOPIC-PARTITION:BYTES` each.
    fn struck(&mut self, fault: &str, of: &str, cuts: &[&str]) -> Result<(), String> {
        let mut value = json!({"nodes": nodes(of)?});
        for cut in cuts {
            let parts: Vec<&str> = cut.split(':').collect();
            let [node, partition, bytes] = parts[..] else {
                return Err("NODE:PARTITION:BYTES is needed".to_owned());
            };
            value["cut"][node][partition] = json!({"bytes": number::<u64>(bytes)?});
        }
        let event = Event::new(0, Process::Nemesis, EventKind::Info, Function::from(fault));
        self.push(event.with_value(EventValue::Other(value)));
        Ok(())
    }

    fn sample(&mut self, node: NodeId, said: Said) {
        let at = self.ms * MS;
        self.evidence.samples.push(Sample { asked: at, answered: at, node, said });
    }

    fn told_leader(
        &mut self,
        key: &str,
        leader: NodeId,
        leader_epoch: i32,
        words: &[&str],
    ) -> Result<(), String> {
        let mut state = PartitionState {
            key: Key::from(key),
            leader: Some(leader),
            leader_epoch,
            isr: vec![1, 2, 3],
            ..PartitionState::default()
        };
        let mut by = leader;
        for word in words {
            match word.split_once('=') {
                Some(("by", node)) => by = number(node)?,
                Some(("isr", isr)) => state.isr = nodes(isr)?,
                Some(("pe", epoch)) => state.partition_epoch = Some(number(epoch)?),
                _ => return Err(format!("unknown part {word} of what a node was told")),
            }
        }
        self.ms += 20;
        self.sample(by, Said::Partition(state));
        self.ms += 20;
        Ok(())
    }

    fn change(&mut self, key: &str, words: &[&str]) -> Result<(), String> {
        let (topic, nth) = partition(key);
        let mut fields = json!({"topicId": topic, "partitionId": nth});
        for word in words {
            match (*word, word.split_once('=')) {
                ("at-once", _) => {}
                ("recovering", _) => fields["leaderRecoveryState"] = json!(1),
                ("recovered", _) => fields["leaderRecoveryState"] = json!(0),
                (_, Some(("leader", node))) => fields["leader"] = json!(number::<i32>(node)?),
                (_, Some(("isr", isr))) => fields["isr"] = json!(nodes(isr)?),
                (_, Some(("elr", elr))) => fields["eligibleLeaderReplicas"] = json!(nodes(elr)?),
                (_, Some(("replicas", all))) => fields["replicas"] = json!(nodes(all)?),
                _ => return Err(format!("unknown part {word} of a change")),
            }
        }
        let takes_ms = if words.contains(&"at-once") { 0 } else { 20 };
        self.ms += takes_ms;
        self.metadata("PartitionChangeRecord", fields);
        self.ms += takes_ms;
        Ok(())
    }

    fn broker(&mut self, node: NodeId, what: &str) -> Result<(), String> {
        let change = |fenced: i8, stopping: i8| {
            let mut fields = json!({"brokerId": node, "fenced": fenced});
            fields["inControlledShutdown"] = json!(stopping);
            fields
        };
        let (kind, fields) = match what {
            "registered" => ("RegisterBrokerRecord", json!({"brokerId": node, "fenced": true})),
            "fenced" => ("BrokerRegistrationChangeRecord", change(1, 0)),
            "unfenced" => ("BrokerRegistrationChangeRecord", change(-1, 0)),
            "stopping" => ("BrokerRegistrationChangeRecord", change(0, 1)),
            _ => return Err("registered, fenced, unfenced or stopping is needed".to_owned()),
        };
        self.metadata(kind, fields);
        Ok(())
    }
}

/// Node ids between commas; nothing is nobody.
fn nodes(text: &str) -> Result<Vec<NodeId>, String> {
    text.split(',').filter(|id| !id.is_empty()).map(number).collect()
}

/// What a replica says of itself in a sample.
fn replica(key: &str, hw: &str, words: &[&str]) -> Result<ReplicaState, String> {
    let hw: Option<Offset> = if hw == "?" { None } else { Some(number(hw)?) };
    let mut state = ReplicaState { key: Key::from(key), hw, ..ReplicaState::default() };
    for word in words {
        let (name, text) = word.split_once('=').ok_or("NAME=VALUE is needed")?;
        match name {
            "leads" | "follows" => {
                state.leads = Some(name == "leads");
                state.leader_epoch = Some(number(text)?);
            }
            "start" => state.log_start = Some(number(text)?),
            "lso" => state.lso = Some(number(text)?),
            "leo" => state.leo = Some(number(text)?),
            _ => return Err(format!("unknown part {word} of a sample")),
        }
    }
    Ok(state)
}
