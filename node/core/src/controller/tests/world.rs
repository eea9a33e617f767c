//! A controller with its clock and its log, driven by lines of text.

use super::render;
use super::table::Table;
use crate::controller::request::*;
use crate::controller::*;
use crate::metadata::Image;
use crate::metadata::record::*;
use crate::rule::Rules;
use crate::script::Line;
use crate::types::*;

pub struct World {
    pub controller: Controller,
    pub now: Time,
    out: Vec<Output>,
    next_token: u64,
    /// False while the log's disk is stuck: nothing is committed.
    commits: bool,
    rules: Rules,
}

pub fn settings() -> Settings {
    Settings {
        cluster_id: "c".to_owned(),
        session_timeout_ms: 9000,
        num_partitions: 2,
        default_replication_factor: 3,
        unclean_election: false,
        unclean_interval_ms: 300_000,
        auto_rebalance: true,
        rebalance_interval_ms: 200_000,
        initial_features: vec![FeatureLevelRecord {
            name: "metadata.version".to_owned(),
            level: 27,
        }],
    }
}

fn own() -> RegisterControllerRecord {
    RegisterControllerRecord {
        controller: BrokerId(9),
        incarnation: IncarnationId(9),
        endpoints: Vec::new(),
        features: Vec::new(),
    }
}

pub fn activate(now: Time, rules: Rules, image: Image, out: &mut Vec<Output>) -> Controller {
    let tables = (rules, Box::new(Table) as Box<dyn ConfigRules + Send>);
    Controller::activate(now, settings(), tables, image, own(), out)
}

impl World {
    pub fn new() -> World {
        let mut out = Vec::new();
        let rules = Rules::default();
        let controller = activate(Time(0), rules, Image::default(), &mut out);
        let mut world =
            World { controller, now: Time(0), out, next_token: 1, commits: true, rules };
        world.commit();
        world.out.clear();
        world
    }

    /// Executes one line and tells what came of it.
    pub fn execute(&mut self, line: &Line<'_>) -> String {
        let told = match line.command {
            "wait" => self.wait(line.number("ms").expect("wait ms=") as u64),
            "stall" => self.stall(line.number("ms").expect("stall ms=") as u64),
            "stuck" => self.commits(false),
            "commit" => self.commits(true),
            "failover" => self.fail_over(),
            "mutant" => self.mutate(line),
            "show" => self.show(line.word(0)),
            _ => self.ask(line),
        };
        self.controller.validate();
        told
    }

    pub fn request(&mut self, request: Request) -> Vec<Output> {
        let token = Token(self.next_token);
        self.next_token += 1;
        self.controller.step(self.now, Input::Request { token, request }, &mut self.out);
        self.commit();
        std::mem::take(&mut self.out)
    }

    fn commit(&mut self) {
        if self.commits {
            let end = self.controller.image().end;
            self.controller.step(self.now, Input::Committed(end), &mut self.out);
        }
    }

    fn told(&mut self, outputs: &[Output]) -> String {
        outputs.iter().map(|output| render::output(self.controller.image(), output)).collect()
    }

    fn commits(&mut self, commits: bool) -> String {
        self.commits = commits;
        self.commit();
        let outputs = std::mem::take(&mut self.out);
        self.told(&outputs)
    }

    /// Lets the time pass, with a tick whenever the controller wants one.
    pub fn wait(&mut self, ms: u64) -> String {
        let until = self.now.plus_ms(ms);
        let mut told = String::new();
        while let Some(wake) = self.controller.next_wake().filter(|wake| *wake <= until) {
            self.now = wake;
            self.controller.step(wake, Input::Tick, &mut self.out);
            self.commit();
            let outputs = std::mem::take(&mut self.out);
            told += &self.told(&outputs);
        }
        self.now = until;
        told
    }

    /// The controller's process stands still, and notices when it goes on.
    fn stall(&mut self, ms: u64) -> String {
        self.now = self.now.plus_ms(ms);
        self.controller.step(self.now, Input::Tick, &mut self.out);
        self.commit();
        let outputs = std::mem::take(&mut self.out);
        self.told(&outputs)
    }

    /// Another controller takes over with the same log.
    fn fail_over(&mut self) -> String {
        let mut out = Vec::new();
        let image = self.controller.image().clone();
        self.controller = activate(self.now, self.rules, image, &mut out);
        self.told(&out)
    }

    /// Another controller takes over that has this mutant.
    fn mutate(&mut self, line: &Line<'_>) -> String {
        let id = line.text("id").expect("mutant id=ID");
        (crate::mutant::find(id).expect("a known mutant").apply)(&mut self.rules);
        self.fail_over()
    }

    fn show(&self, place: &str) -> String {
        let (id, _) = self.partition(place);
        let partition = self.controller.image().partition(id).expect("the partition exists");
        format!("{place}: {}\n", render::state(&partition.state))
    }

    pub fn partition(&self, place: &str) -> (PartitionId, PartitionRef) {
        let place = place_of(place);
        let image = self.controller.image();
        let topic = image.topic_ids.get(&place.topic).copied().unwrap_or_default();
        (PartitionId { topic, index: place.index }, place)
    }

    fn ask(&mut self, line: &Line<'_>) -> String {
        let request = match line.command {
            "register" => Request::RegisterBroker(register(line)),
            "heartbeat" => Request::Heartbeat(self.heartbeat(line)),
            "alter" => Request::AlterPartition(self.alter(line)),
            "ids" => {
                let broker = broker(line.word(0));
                Request::AllocateProducerIds { broker, broker_epoch: self.epoch(line, broker) }
            }
            "create" => Request::CreateTopics(create(line)),
            "delete" => {
                let topics = line.words.iter().map(|word| self.topic_ref(word));
                Request::DeleteTopics(topics.collect())
            }
            "elect" => Request::ElectLeaders(elect(line)),
            "reassign" => Request::AlterReassignments(vec![Reassignment {
                partition: place_of(line.word(0)),
                replicas: line.text("to").map(brokers),
            }]),
            "configs" => Request::AlterConfigs(configs(line)),
            "unregister" => Request::UnregisterBroker(broker(line.word(0))),
            other => panic!("no command {other}"),
        };
        let outputs = self.request(request);
        self.told(&outputs)
    }

    fn epoch(&self, line: &Line<'_>, broker: BrokerId) -> BrokerEpoch {
        let known = self.controller.image().brokers.get(&broker).map(|b| b.epoch);
        line.number("epoch").map_or(known.unwrap_or_default(), BrokerEpoch)
    }

    /// `NAME`, or `id:NAME` for the topic's identity; that of a topic that is not there is 9.
    fn topic_ref(&self, word: &str) -> TopicRef {
        match word.strip_prefix("id:") {
            Some(name) => {
                let known = self.controller.image().topic_ids.get(name);
                TopicRef::Id(known.copied().unwrap_or(TopicId(9)))
            }
            None => TopicRef::Name(word.to_owned()),
        }
    }

    fn heartbeat(&self, line: &Line<'_>) -> Heartbeat {
        let broker = broker(line.word(0));
        let end = self.controller.image().end.0;
        Heartbeat {
            broker,
            broker_epoch: self.epoch(line, broker),
            metadata_offset: Offset(line.number("at").unwrap_or(end - 1)),
            want_fence: line.has("fence"),
            want_shutdown: line.has("stop"),
        }
    }

    /// `alter 1 t-0 isr=1,2`: epochs are the current ones unless the line says otherwise; a member
    /// `2:7` claims broker epoch 7.
    fn alter(&self, line: &Line<'_>) -> AlterPartition {
        let broker = broker(line.word(0));
        let (partition, _) = self.partition(line.word(1));
        let state = self.controller.image().partition(partition).map(|p| &p.state);
        let or = |key: &str, now: i32| line.number(key).map_or(now, |given| given as i32);
        let member = |text: &str| {
            let (id, epoch) = text.split_once(':').map_or((text, None), |(id, e)| (id, Some(e)));
            let id = self::broker(id);
            let known = self.controller.image().brokers.get(&id).map(|b| b.epoch);
            (id, epoch.map_or(known, |e| Some(BrokerEpoch(e.parse().unwrap()))))
        };
        let isr = line.text("isr").expect("isr=");
        let change = IsrChange {
            partition,
            leader_epoch: LeaderEpoch(or("leader-epoch", state.map_or(0, |s| s.leader_epoch.0))),
            isr: isr.split(',').map(member).collect(),
            recovering: line.has("recovering"),
            partition_epoch: PartitionEpoch(or(
                "version",
                state.map_or(0, |s| s.partition_epoch.0),
            )),
        };
        AlterPartition { broker, broker_epoch: self.epoch(line, broker), changes: vec![change] }
    }
}

fn broker(text: &str) -> BrokerId {
    BrokerId(text.parse().unwrap_or_else(|_| panic!("{text} is no broker id")))
}

fn brokers(list: &str) -> Vec<BrokerId> {
    list.split(',').filter(|id| !id.is_empty()).map(broker).collect()
}

fn place_of(text: &str) -> PartitionRef {
    let (topic, index) = text.rsplit_once('-').expect("TOPIC-PARTITION");
    PartitionRef { topic: topic.to_owned(), index: index.parse().expect("a partition") }
}

pub fn register(line: &Line<'_>) -> RegisterBroker {
    let broker = broker(line.word(0));
    let run = line.number("run").unwrap_or(i64::from(broker.0));
    let levels = line.number("level").unwrap_or(27) as i16;
    RegisterBroker {
        broker,
        cluster_id: line.text("cluster").unwrap_or("c").to_owned(),
        incarnation: IncarnationId(run as u128),
        endpoints: Vec::new(),
        features: vec![FeatureRange { name: "metadata.version".to_owned(), min: 7, max: levels }],
        rack: line.text("rack").map(str::to_owned),
        log_dirs: vec![DirectoryId(broker.0 as u128)],
        previous_epoch: line.number("previous").map(BrokerEpoch),
    }
}

/// `create t 1,2 2,3 retention.ms=5`: words after the name are assignments.
fn create(line: &Line<'_>) -> CreateTopics {
    let name = if line.word(0) == "\"\"" { "" } else { line.word(0) };
    let placed = line.words[1..].iter().filter(|word| **word != "dry");
    let assignments: Vec<_> = (0..).zip(placed.map(|list| brokers(list))).collect();
    let default = if assignments.is_empty() { 1 } else { -1 };
    let property = |key: &str| line.text(key).map(|v| (key.to_owned(), Some(v.to_owned())));
    let known = ["retention.ms", "replication.factor", "unclean.leader.election.enable"];
    let topic = NewTopic {
        name: name.to_owned(),
        partitions: line.number("partitions").unwrap_or(default) as i32,
        replication_factor: line.number("rf").unwrap_or(default) as i16,
        assignments,
        configs: known.into_iter().filter_map(property).collect(),
    };
    let times = if line.text("times") == Some("2") { 2 } else { 1 };
    let more = line.text("with").into_iter().flat_map(|names| names.split(','));
    let more = more.map(|name| NewTopic { name: name.to_owned(), ..topic.clone() });
    let topics = std::iter::repeat_n(topic.clone(), times).chain(more).collect();
    CreateTopics { topics, validate_only: line.has("dry"), seed: 1 }
}

fn elect(line: &Line<'_>) -> ElectLeaders {
    let kind = match line.word(0) {
        "preferred" => ElectionKind::Preferred,
        _ => ElectionKind::Unclean,
    };
    let partitions = (line.word(1) != "all").then(|| vec![place_of(line.word(1))]);
    ElectLeaders { kind, partitions }
}

/// `configs topic:t set:retention.ms=5 delete:x= append:cleanup.policy=compact`, in this order.
fn configs(line: &Line<'_>) -> AlterConfigs {
    let resource = match line.word(0).split_once(':').expect("KIND:NAME") {
        ("topic", name) => Resource::Topic(name.to_owned()),
        (_, "") => Resource::Broker(None),
        (_, id) => Resource::Broker(Some(broker(id))),
    };
    let mut changes = Vec::new();
    for name in ["retention.ms", "cleanup.policy", "unclean.leader.election.enable", "no.such"] {
        let value = |op: &str| line.text(&format!("{op}:{name}")).map(str::to_owned);
        let change = |op: ConfigOp| ConfigChange { name: name.to_owned(), op };
        changes.extend(value("set").map(|v| change(ConfigOp::Set(Some(v)))));
        changes.extend(value("delete").map(|_| change(ConfigOp::Delete)));
        changes.extend(value("append").map(|v| change(ConfigOp::Append(Some(v)))));
        changes.extend(value("subtract").map(|v| change(ConfigOp::Subtract(Some(v)))));
    }
    AlterConfigs { resources: vec![(resource, changes)], validate_only: line.has("dry") }
}
