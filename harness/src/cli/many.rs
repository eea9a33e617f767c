//! Many seeds in one command: one line each, a summary, the worst status.

use highwater_history::verdict::Validity;

use super::{
    Exit, out,
    run::{OneRun, one, refuse},
};
use crate::run::{
    RunArgs, Ui,
    args::{Keep, SeedRange},
};

/// Runs every seed of the range.
pub(super) fn run(args: &RunArgs, range: SeedRange) -> Exit {
    let mut worst = Exit::Valid;
    let (mut done, mut valid) = (0_u64, 0_u64);
    for seed in range.first..=range.last {
        let exit = one_line(args, seed);
        done += 1;
        valid += u64::from(exit == Exit::Valid);
        worst = worst.worse(exit);
        if matches!(exit, Exit::Interrupted | Exit::Usage) {
            break;
        }
        if args.until_failure && exit != Exit::Valid {
            break;
        }
    }
    out::line(&format!("{valid} of {done} runs valid"));
    worst
}

fn one_line(args: &RunArgs, seed: u64) -> Exit {
    match one(args, seed, Ui::new(true)) {
        Ok(run) => {
            let exit = run.exit();
            out::line(&format!("seed {seed}: {}", line(&run)));
            keep(args, &run, exit);
            if exit != Exit::Valid {
                eprintln!("{}", run.reproduce);
            }
            exit
        }
        Err(failure) => {
            out::line(&format!("seed {seed}: failed"));
            refuse(&failure)
        }
    }
}

fn line(run: &OneRun) -> String {
    let verdict = &run.judged.verdict;
    let word = match verdict.verdict {
        Validity::Valid => "valid",
        Validity::Invalid => "invalid",
        Validity::Unknown => "unknown",
        Validity::Vacuous => "vacuous",
    };
    let counts = |title: &str, counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {n}")).collect();
        if each.is_empty() { String::new() } else { format!(", {title}: {}", each.join(", ")) }
    };
    format!(
        "{word}{}{}{}",
        counts("anomalies", &verdict.anomalies),
        counts("permitted", &verdict.permitted),
        if run.judged.broken.is_empty() { "" } else { ", its schedule's assertions not held" },
    )
}

/// Removes the folder of a run that nobody wants to look at.
fn keep(args: &RunArgs, run: &OneRun, exit: Exit) {
    let wanted = match args.keep {
        Some(Keep::Failing) => exit != Exit::Valid,
        Some(Keep::All) | None => true,
    };
    if !wanted && let Err(error) = std::fs::remove_dir_all(run.folder.path()) {
        eprintln!("highwater: {}: {error}", run.folder.path().display());
    }
}
