//! `highwater list`: every plug-in, from the files themselves.

use std::process::Command;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Exit, out};
use crate::{fault, schedule, target};

/// Options of `list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// What to list; everything when absent
    what: Option<What>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Targets,
    Workloads,
    Schedules,
    Faults,
    Claims,
    Mutants,
}

const ALL: [What; 6] =
    [What::Targets, What::Workloads, What::Schedules, What::Faults, What::Claims, What::Mutants];

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    kind: &'static str,
    name: String,
    about: String,
}

/// Lists.
pub(super) fn list(args: &ListArgs) -> Exit {
    let wanted = args.what.map_or(ALL.to_vec(), |what| vec![what]);
    let rows: Vec<Row> = wanted.into_iter().flat_map(rows).collect();
    if args.json {
        out::json(&rows);
        return Exit::Valid;
    }
    for row in rows {
        out::line(&match args.what {
            Some(_) => format!("{:24} {}", row.name, row.about),
            None => format!("{:10} {:24} {}", row.kind, row.name, row.about),
        });
    }
    Exit::Valid
}

fn rows(what: What) -> Vec<Row> {
    match what {
        What::Targets => table("target", target::TABLE),
        What::Workloads => table("workload", highwater_workloads::workload::TABLE),
        What::Schedules => table("schedule", schedule::TABLE),
        What::Faults => table("fault", fault::TABLE),
        What::Claims => table("claim", highwater_checker::claim::TABLE),
        What::Mutants => mutants(),
    }
}

fn table<E>(kind: &'static str, table: &[(&str, &str, E)]) -> Vec<Row> {
    let row = |(name, about, _): &(&str, &str, E)| Row {
        kind,
        name: (*name).to_owned(),
        about: (*about).to_owned(),
    };
    table.iter().map(row).collect()
}

/// The node's own list: `ID: sentence` a line; none without its binary.
fn mutants() -> Vec<Row> {
    let Ok(binary) = target::node::find_binary() else { return Vec::new() };
    let Ok(output) = Command::new(binary).arg("--list-mutants").output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |line: &str| {
        let (name, about) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.trim_end_matches(':').to_owned();
        Row { kind: "mutant", name, about: about.trim().to_owned() }
    };
    text.lines().filter(|line| !line.is_empty()).map(row).collect()
}
