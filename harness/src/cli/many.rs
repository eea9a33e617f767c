//! Many seeds in one command: one line each, a summary, the worst status, one JUnit report of all.

use highwater_history::outcome::Assertion;
use highwater_reports::junit;

use super::{
    Exit, out,
    run::{OneRun, fail, one, reproduce},
};
use crate::run::{
    Failure, RunArgs, Ui,
    args::{Keep, SeedRange},
};

/// Runs every seed of the range.
pub(super) fn run(args: &RunArgs, range: SeedRange) -> Exit {
    let mut worst = Exit::Valid;
    let mut report = junit::Runs::default();
    let (mut done, mut valid) = (0_u64, 0_u64);
    for seed in range.first..=range.last {
        let exit = one_line(args, seed, &mut report);
        done += 1;
        valid += u64::from(exit == Exit::Valid);
        worst = worst.worse(exit).worse(write(args, &report));
        if matches!(exit, Exit::Interrupted | Exit::Usage) {
            break;
        }
        if args.until_failure && exit != Exit::Valid {
            break;
        }
    }
    say(args, &format!("{valid} of {done} runs valid"));
    worst
}

/// Writes the report of the seeds so far beside the run folders: a job that is killed leaves what
/// there was.
fn write(args: &RunArgs, report: &junit::Runs) -> Exit {
    if args.no_report || report.is_empty() {
        return Exit::Valid;
    }
    match report.write(&args.out.join("junit.xml")) {
        Ok(()) => Exit::Valid,
        Err(error) => {
            crate::stderr::line(format_args!("highwater: {error}"));
            Exit::Harness
        }
    }
}

fn one_line(args: &RunArgs, seed: u64, report: &mut junit::Runs) -> Exit {
    match one(args, seed, Ui::new(true)) {
        Ok(run) => {
            let exit = run.exit();
            report.judged(seed, &run.verdict);
            say(args, &format!("seed {seed}: {}", line(&run)));
            if args.json {
                out::json_line(&run.verdict);
            }
            keep(args, &run, exit);
            if exit != Exit::Valid {
                crate::stderr::line(format_args!("{}", run.reproduce));
            }
            exit
        }
        Err(failure) => {
            let word =
                if matches!(failure, Failure::Interrupted) { "interrupted" } else { "failed" };
            say(args, &format!("seed {seed}: {word}"));
            // A command that is wrong is no test that failed.
            if !matches!(failure, Failure::Usage(_)) {
                report.failed(seed, &failure.to_string(), &reproduce(seed));
            }
            fail(&failure, seed)
        }
    }
}

/// Standard output belongs to the verdicts where they are asked for.
fn say(args: &RunArgs, text: &str) {
    if args.json {
        crate::stderr::line(format_args!("{text}"));
    } else {
        out::line(text);
    }
}

fn line(run: &OneRun) -> String {
    let verdict = &run.verdict;
    let word = verdict.verdict.as_str();
    let counts = |title: &str, counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {n}")).collect();
        if each.is_empty() { String::new() } else { format!(", {title}: {}", each.join(", ")) }
    };
    format!(
        "{word}{}{}{}",
        counts("anomalies", &verdict.anomalies),
        counts("permitted", &verdict.permitted),
        shortfall(&verdict.assertions),
    )
}

fn shortfall(assertions: &[Assertion]) -> &'static str {
    let some = |held| assertions.iter().any(|assertion| assertion.held == held);
    match (some(Some(false)), some(None)) {
        (true, _) => ", its schedule's assertions not held",
        (false, true) => ", its schedule's assertions not decided",
        (false, false) => "",
    }
}

/// Removes the folder of a run that nobody wants to look at.
fn keep(args: &RunArgs, run: &OneRun, exit: Exit) {
    let wanted = match args.keep {
        Some(Keep::Failing) => exit != Exit::Valid,
        Some(Keep::All) | None => true,
    };
    if !wanted && let Err(error) = std::fs::remove_dir_all(run.folder.path()) {
        crate::stderr::line(format_args!("highwater: {}: {error}", run.folder.path().display()));
    }
}
