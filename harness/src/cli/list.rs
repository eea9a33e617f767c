//! `highwater list`: every plug-in, from the files themselves.

use std::process::Command;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Exit, out};
use crate::{
    fault,
    run::{RunArgs, setup},
    schedule,
    target::{self, TargetError},
};

/// Options of `list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// What to list; everything when absent
    what: Option<What>,
    /// Of schedules: whether this target can run each, and why not
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
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
    /// Why the target that was asked about cannot run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    planted: Option<Planted>,
}

/// What a mutant's row says beside its name.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Planted {
    rule: String,
    schedule: String,
    source: String,
}

/// Lists.
pub(super) fn list(args: &ListArgs) -> Exit {
    let wanted = args.what.map_or(ALL.to_vec(), |what| vec![what]);
    let mut found = Vec::new();
    for what in wanted {
        match rows(what) {
            Ok(mut rows) => {
                if let (What::Schedules, Some(target)) = (what, &args.target) {
                    rows.iter_mut().for_each(|row| row.cannot = cannot(&row.name, target));
                }
                found.extend(rows);
            }
            Err(error) => {
                crate::stderr::line(format_args!("highwater: {what:?} cannot be listed: {error}"));
                if args.what.is_some() {
                    return Exit::Harness;
                }
            }
        }
    }
    show(args, found);
    Exit::Valid
}

fn show(args: &ListArgs, rows: Vec<Row>) {
    if args.json {
        out::json(&rows);
        return;
    }
    for row in rows {
        let line = line(&row);
        out::line(&match args.what {
            Some(_) => line,
            None => format!("{:10} {line}", row.kind),
        });
    }
}

/// A row as text: name and sentence, then what else decides whether one wants it.
fn line(row: &Row) -> String {
    let Row { name, about, cannot, planted, .. } = row;
    let cannot = cannot.as_ref().map(|why| format!(" [cannot run: {why}]")).unwrap_or_default();
    let shown = planted.as_ref().map(|by| format!(" [shown by: {}]", by.schedule));
    format!("{name:26} {about}{}{cannot}", shown.unwrap_or_default())
}

/// Why a target cannot run a schedule; `None` when it can.
fn cannot(schedule: &str, target: &str) -> Option<String> {
    let (schedule, target) = (Some(schedule.to_owned()), Some(target.to_owned()));
    let args = RunArgs { schedule, target, ..RunArgs::default() };
    setup::resolve(&args, 1).err().map(|why| why.to_string())
}

fn rows(what: What) -> Result<Vec<Row>, TargetError> {
    Ok(match what {
        What::Targets => table("target", target::TABLE),
        What::Workloads => table("workload", highwater_workloads::workload::TABLE),
        What::Schedules => table("schedule", schedule::TABLE),
        What::Faults => table("fault", fault::TABLE),
        What::Claims => table("claim", highwater_checker::claim::TABLE),
        What::Mutants => mutants()?,
    })
}

fn table<E>(kind: &'static str, table: &[(&str, &str, E)]) -> Vec<Row> {
    let row = |(name, about, _): &(&str, &str, E)| Row {
        kind,
        name: (*name).to_owned(),
        about: (*about).to_owned(),
        cannot: None,
        planted: None,
    };
    table.iter().map(row).collect()
}

/// The node's own list.
fn mutants() -> Result<Vec<Row>, TargetError> {
    let binary = target::node::find_binary()?;
    let output = Command::new(&binary).arg("--list-mutants").output();
    let output = output.map_err(|source| TargetError::File { path: binary, source })?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(mutant).collect())
}

/// One line of the node: id, rule, schedules, source and sentence, with tabs between.
fn mutant(line: &str) -> Option<Row> {
    let mut fields = line.splitn(5, '\t').map(str::to_owned);
    let mut next = || fields.next();
    let (name, rule, schedule, source, about) = (next()?, next()?, next()?, next()?, next()?);
    Some(Row {
        kind: "mutant",
        name,
        about,
        cannot: None,
        planted: Some(Planted { rule, schedule, source }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_node_is_a_row() {
        let row = mutant("HW-26\t36\tS3, S4\tRedpanda #3003\tA leader answers.").unwrap();
        assert_eq!((row.name.as_str(), row.about.as_str()), ("HW-26", "A leader answers."));
        assert_eq!(line(&row), format!("{:26} A leader answers. [shown by: S3, S4]", "HW-26"));
        assert_eq!(row.planted.unwrap().schedule, "S3, S4");
        assert_eq!(mutant("HW-26"), None);
    }

    #[test]
    fn what_a_plug_in_says_of_itself_is_a_whole_sentence() {
        for what in ALL.into_iter().filter(|what| *what != What::Mutants) {
            for Row { name, about, .. } in rows(what).unwrap() {
                assert!(about.ends_with('.') && !about.contains('\n'), "{name}: {about}");
            }
        }
        let mut schedules = rows(What::Schedules).unwrap().into_iter();
        let cut = schedules.find(|row| row.name == "brokers-down").unwrap().about;
        assert!(cut.contains("that loses: one, two, all three replicas"), "{cut}");
    }
}
