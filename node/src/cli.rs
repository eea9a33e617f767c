//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use highwater_broker::config::{self, Loaded};
use highwater_broker::core::mutant;
use highwater_broker::core::rule::Rules;

use crate::failure::Failure;
use crate::{log_dir, log_lines, process};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("HIGHWATER_COMMIT"), ")");

/// A Kafka-compatible broker or controller.
///
/// Reads a Kafka server.properties, prints one line `ready node=N listener=HOST:PORT` when it
/// serves, and writes one JSON line an event to standard error. SIGTERM is a controlled shutdown.
/// Exit status: 64 for a wrong option or property, 70 when the node cannot serve.
#[derive(Parser, Debug)]
#[command(name = "highwater-node", version = VERSION, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Task>,
    #[command(flatten)]
    node: NodeArgs,
    /// Print the historical bugs that --mutant can switch on, and exit.
    #[arg(long)]
    list_mutants: bool,
}

#[derive(Subcommand, Debug)]
enum Task {
    /// Format an empty log directory and exit.
    Format(NodeArgs),
}

#[derive(Args, Debug)]
struct NodeArgs {
    /// The node's server.properties.
    file: Option<PathBuf>,
    /// Set a property, over the file.
    #[arg(long = "override", value_name = "NAME=VALUE")]
    overrides: Vec<String>,
    /// Format an empty log directory for this cluster.
    #[arg(long, value_name = "ID")]
    cluster_id: Option<String>,
    /// Switch a historical bug on (see --list-mutants). The log directory must have been made with
    /// this option.
    #[arg(long = "mutant", value_name = "ID")]
    mutants: Vec<String>,
}

/// What a node is started with.
#[derive(Debug)]
pub struct Start {
    /// The properties.
    pub loaded: Loaded,
    /// The rules, mutated or not.
    pub rules: Rules,
    /// The ids of the mutants that are on.
    pub mutants: Vec<String>,
}

/// Does what the command line asks for.
pub fn run() -> Result<(), Failure> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version go to standard output; a wrong option has a status of its own here.
        Err(error) if !error.use_stderr() => {
            print!("{error}");
            return Ok(());
        }
        Err(error) => return Err(Failure::usage(first_sentence(&error))),
    };
    if cli.list_mutants {
        list_mutants();
        return Ok(());
    }
    match cli.command {
        Some(Task::Format(args)) => {
            let start = args.start()?;
            process::begin_log(&start.loaded)?;
            log_dir::format_new(&start.loaded.settings.node, &start.mutants)?;
            log_lines::flush();
            Ok(())
        }
        None => process::serve(cli.node.start()?),
    }
}

/// Clap's first line, without its "error: ".
fn first_sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    format!("{}; see --help", line.strip_prefix("error: ").unwrap_or(line))
}

fn list_mutants() {
    for (_, summary, entry) in mutant::TABLE {
        println!("{}\t{}\t{}\t{}\t{summary}", entry.id, entry.rule, entry.schedule, entry.source);
    }
}

impl NodeArgs {
    fn start(self) -> Result<Start, Failure> {
        let file = self.file.ok_or_else(|| {
            Failure::usage("name the node's server.properties on the command line; see --help")
        })?;
        let text = std::fs::read_to_string(&file)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
        let mut overrides = parse_overrides(&self.overrides)?;
        overrides.extend(self.cluster_id.map(|id| ("cluster.id".to_owned(), id)));
        let loaded = config::load(&text, &overrides)
            .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        log_lines::set_node(loaded.settings.node.node_id.0);
        let rules = mutated(&self.mutants)?;
        Ok(Start { loaded, rules, mutants: self.mutants })
    }
}

fn parse_overrides(overrides: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--override takes NAME=VALUE, and {text:?} has no \"=\""))
        })?;
        Ok((name.trim().to_owned(), value.to_owned()))
    };
    overrides.iter().map(pair).collect()
}

fn mutated(ids: &[String]) -> Result<Rules, Failure> {
    let mut rules = Rules::default();
    for id in ids {
        let entry = mutant::find(id).ok_or_else(|| {
            Failure::usage(format!("there is no mutant {id}; see --list-mutants"))
        })?;
        (entry.apply)(&mut rules);
    }
    Ok(rules)
}
