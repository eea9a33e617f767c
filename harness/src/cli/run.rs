//! `highwater run`.

use highwater_checker::text;
use highwater_history::{RunFolder, Verdict};
use highwater_workloads::{Acks, settings::AcksMode};

use super::{Exit, many, out, plan};
use crate::run::{
    Asked, Failure, HistoryFormatOption, Interrupts, RunArgs, Ui, drawn, execute, judge, setup,
    tidy::drop_data,
};

/// Runs one experiment, or many.
pub(super) fn run(args: &RunArgs) -> Exit {
    let first = args.seeds.map(|range| range.first);
    // A drawn seed stays small enough to be typed.
    let seed = first.or(args.seed).unwrap_or_else(|| drawn() % 1_000_000);
    if args.plan {
        return match setup::admit(args, seed) {
            Ok(admitted) => plan::print(&admitted.setup),
            Err(failure) => refuse(&failure),
        };
    }
    if let Some(range) = args.seeds {
        return many::run(args, range);
    }
    match one(args, seed, Ui::new(args.quiet)) {
        Ok(run) => {
            tell(args, &run);
            run.exit()
        }
        Err(failure) => fail(&failure, seed),
    }
}

/// A run that came to its verdict.
pub(super) struct OneRun {
    pub folder: RunFolder,
    pub verdict: Verdict,
    pub reproduce: String,
}

impl OneRun {
    pub(super) fn exit(&self) -> Exit {
        Exit::of_status(self.verdict.exit)
    }
}

/// Carries out one run with this seed and judges it; of a valid one the brokers' data is dropped.
pub(super) fn one(args: &RunArgs, seed: u64, ui: Ui) -> Result<OneRun, Failure> {
    let run = one_of(args, seed, ui, reproduce(seed))?;
    if run.exit() == Exit::Valid {
        drop_data(run.folder.path())?;
    }
    Ok(run)
}

/// As [`one`], for a run that another command asks for: `reproduce` is the one that repeats it.
pub(super) fn one_of(
    args: &RunArgs,
    seed: u64,
    ui: Ui,
    reproduce: String,
) -> Result<OneRun, Failure> {
    let setup = setup::admit(args, seed)?.setup;
    if setup.settings.acks == AcksMode::Only(Acks::Zero) {
        crate::stderr::line(format_args!(
            "highwater: warning: at acks=0 nothing is acknowledged: the verdict is at best vacuous"
        ));
    }
    let command: Vec<String> = words().collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let carried: Result<_, Failure> = runtime.block_on(async {
        let interrupts = &Interrupts::listen();
        let (out, command, reproduce) = (&args.out, &*command, &*reproduce);
        let asked = Asked { setup: &setup, out, command, reproduce, ui, interrupts };
        let folder = execute(asked).await?;
        let verdict = interrupts.unless(judged(folder.clone(), args)).await?;
        Ok((folder, verdict))
    });
    // Nobody waits for a verdict that was interrupted.
    runtime.shutdown_background();
    let (folder, verdict) = carried?;
    Ok(OneRun { folder, verdict, reproduce })
}

/// Judges on a thread of its own, so that signals are heard meanwhile. Whatever the history is kept
/// as, it was written line by line: a harness that is killed leaves all that had an effect.
async fn judged(folder: RunFolder, args: &RunArgs) -> Result<Verdict, Failure> {
    let report = !args.no_report;
    let binary = args.history_format == HistoryFormatOption::Binary;
    let judging = tokio::task::spawn_blocking(move || {
        if binary {
            folder.make_history_binary().map_err(|error| Failure::Harness(error.to_string()))?;
        }
        judge(&folder, report)
    });
    judging.await.map_err(|error| Failure::Harness(format!("judging crashed: {error}")))?
}

/// Tells why a run came to no verdict and, unless the command itself is wrong, how to repeat it.
pub(super) fn fail(failure: &Failure, seed: u64) -> Exit {
    let exit = refuse(failure);
    if exit != Exit::Usage {
        crate::stderr::line(format_args!("{}", reproduce(seed)));
    }
    exit
}

/// Tells the reason for a failure.
pub(super) fn refuse(failure: &Failure) -> Exit {
    crate::stderr::line(format_args!("highwater: {failure}"));
    failure.into()
}

fn tell(args: &RunArgs, run: &OneRun) {
    if args.json {
        out::json(&run.verdict);
    } else {
        out::print(&text::of(&run.verdict));
        if !args.no_report {
            out::line(&format!("report: {}", run.folder.report_path().display()));
        }
    }
    if run.exit() != Exit::Valid {
        crate::stderr::line(format_args!("{}", run.reproduce));
    }
}

/// The command line with the seed that was used: the one command that repeats the run.
pub(super) fn reproduce(seed: u64) -> String {
    repeat(words().skip(1), seed)
}

/// The command line; what is no text in it was refused already, or is shown as far as it is.
pub(super) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

fn repeat(mut given: impl Iterator<Item = String>, seed: u64) -> String {
    let mut words = vec!["highwater".to_owned()];
    while let Some(word) = given.next() {
        match word.as_str() {
            "--seed" | "--seeds" | "--keep" => drop(given.next()),
            "--until-failure" => {}
            _ if word.starts_with("--seed") || word.starts_with("--keep=") => {}
            _ => words.push(quoted(&word)),
        }
    }
    words.extend(["--seed".to_owned(), seed.to_string()]);
    words.join(" ")
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::repeat;

    #[test]
    fn the_repeat_command_has_the_run_s_options_and_its_one_seed() {
        let given = ["run", "--seeds", "1..20", "--until-failure", "--set", "a=b c", "--keep=all"];
        let command = repeat(given.into_iter().map(str::to_owned), 7);
        assert_eq!(command, "highwater run --set 'a=b c' --seed 7");
    }
}
