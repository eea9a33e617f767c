//! The options of `highwater run`, as given.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::steps::Span;

/// One experiment: start, break, record, heal, read back, judge, report.
#[derive(Debug, Clone, Default, Args)]
pub struct RunArgs {
    /// What to test: node, kafka, or kafka:VERSION
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Brokers
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub nodes: Option<u32>,
    /// Decides everything that the harness decides; drawn and printed when absent
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// How long faults may last; a schedule's steps are played once in any case (the default one's
    /// in about 12 s)
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    pub time: Option<Span>,
    /// What the clients do
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// What happens to the cluster: a name or a FILE.json
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,
    /// Replicas that must have a record before it is acknowledged
    #[arg(long)]
    pub acks: Option<AcksOption>,
    /// Whether acks=all producers are idempotent
    #[arg(long)]
    pub idempotence: Option<Switch>,
    /// Whether producers without idempotence repeat a batch
    #[arg(long)]
    pub retries: Option<Switch>,
    /// Producer clients
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub producers: Option<u32>,
    /// Consumer clients
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub consumers: Option<u32>,
    /// Topics
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub topics: Option<u32>,
    /// Partitions of each topic
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub partitions: Option<u32>,
    /// Replicas of each partition
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub replication_factor: Option<u32>,
    /// Sends a second over all producers; 0: as many as fit
    #[arg(long, value_name = "OPS", value_parser = count, allow_negative_numbers = true)]
    pub rate: Option<u32>,
    /// Polls a second of one consumer; 0: as many as fit
    #[arg(long, value_name = "OPS", value_parser = count, allow_negative_numbers = true)]
    pub poll_rate: Option<u32>,
    /// What consumers may see
    #[arg(long)]
    pub isolation: Option<IsolationOption>,
    /// Time limits of the cluster
    #[arg(long)]
    pub timing: Option<TimingOption>,
    /// A set of settings by its name
    #[arg(long)]
    pub preset: Option<Preset>,
    /// A property of all nodes, or of one: 2:KEY=VALUE (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A setting of all topics (repeatable)
    #[arg(long = "topic-config", value_name = "KEY=VALUE")]
    pub topic_config: Vec<String>,
    /// Settings of one topic: LABEL:KEY=VALUE,KEY=VALUE (repeatable)
    #[arg(long = "topic", value_name = "LABEL:KEY=VALUE,...")]
    pub topic: Vec<String>,
    /// Least size of a record's payload
    #[arg(long, value_name = "BYTES", value_parser = count, allow_negative_numbers = true)]
    pub value_size: Option<u32>,
    /// Samples a second of each node; 0: none
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub sample_hz: Option<u32>,
    /// Controllers in processes of their own, or `combined` with the brokers
    #[arg(long, value_name = "N|combined", allow_negative_numbers = true)]
    pub controllers: Option<String>,
    /// A feature level that a new cluster begins with (repeatable; kafka only)
    #[arg(long, value_name = "NAME=LEVEL")]
    pub feature: Vec<String>,
    /// Switches a known bug on (repeatable; node only)
    #[arg(long, value_name = "ID")]
    pub mutant: Vec<String>,
    /// Fails the run when a key was unavailable for longer
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    pub max_unavailable: Option<Span>,
    /// Fails the run when recovery took longer
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    pub max_recovery: Option<Span>,
    /// Many runs: both ends included; DIR/junit.xml has them all
    #[arg(long, value_name = "A..B", conflicts_with = "seed", allow_hyphen_values = true)]
    pub seeds: Option<SeedRange>,
    /// Stop at the first run that is not valid
    #[arg(long, requires = "seeds")]
    pub until_failure: bool,
    /// Which run folders of many to keep
    #[arg(long, requires = "seeds")]
    pub keep: Option<Keep>,
    /// Where run folders go
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
    /// What the history of a run that came to its end is kept as: JSON lines, or their binary form
    #[arg(long, value_enum, default_value_t)]
    pub history_format: HistoryFormatOption,
    /// The verdict as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Write no report.html
    #[arg(long)]
    pub no_report: bool,
    /// Print nothing but the verdict
    #[arg(long)]
    pub quiet: bool,
    /// Print the schedule and the workload that the seed gives, and do nothing
    #[arg(long)]
    pub plan: bool,
}

fn count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", u32::MAX))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", u64::MAX))
}

/// Values of `--acks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AcksOption {
    /// None
    #[value(name = "0")]
    Zero,
    /// The leader
    #[value(name = "1")]
    One,
    /// Every in-sync replica
    All,
    /// One topic a level
    Mix,
}

/// Values of `--isolation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum IsolationOption {
    /// Without aborted and open transactions
    ReadCommitted,
    /// Everything below the high watermark
    ReadUncommitted,
}

/// Values of `--timing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimingOption {
    /// Session 1.5 s, heartbeat 0.3 s, lag limit 1 s
    Fast,
    /// Kafka's own: session 9 s, heartbeat 2 s, lag limit 30 s
    Default,
}

/// Values of `--preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Three replicas, min.insync.replicas 2, acks=all, idempotence
    Durable,
    /// Durable, and every batch flushed
    Audit,
    /// acks=1, unclean elections
    Metrics,
    /// Kafka's own defaults: one replica
    Default,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes
    On,
    /// No
    Off,
}

/// Values of `--history-format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormatOption {
    /// history.jsonl
    #[default]
    Jsonl,
    /// history.hwh, much smaller
    Binary,
}

/// Values of `--keep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Those of runs that are not valid
    Failing,
    /// All
    All,
}

/// A range of seeds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl std::str::FromStr for SeedRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range of seeds; write A..B, such as 1..20");
        let (first, last) = text.split_once("..").ok_or_else(wrong)?;
        let first = first.parse().map_err(|_| wrong())?;
        let last = last.parse().map_err(|_| wrong())?;
        if first > last { Err(wrong()) } else { Ok(SeedRange { first, last }) }
    }
}
