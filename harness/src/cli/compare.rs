//! `highwater compare`: many runs over the matrix of settings, one table.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clap::{Args, ValueEnum as _};
use highwater_checker::{Evidence, Options, evidence::Instead, look};
use highwater_history::{FormatError, RunFolder, Verdict, format::Document};
use highwater_reports::compare::{self, CalmCell, ComparedRun, Comparison, FaultyRun};

use super::{
    Exit, out,
    run::{OneRun, one_of, quoted, refuse, words},
};
use crate::{
    run::{
        Failure, RunArgs, Ui,
        args::{SeedRange, TimingOption},
        new_run_id,
    },
    steps::Span,
};

/// Seeds of a comparison that names none.
const SEEDS: SeedRange = SeedRange { first: 1, last: 5 };
/// Seeds of a quick one.
const QUICK_SEEDS: SeedRange = SeedRange { first: 1, last: 3 };
/// Sends a second over all settings in the runs without faults.
const RATES: [u32; 4] = [250, 500, 1_000, 2_000];
const QUICK_RATES: [u32; 2] = [250, 1_000];
/// How long a run without faults sends.
const CALM_TIME: Span = Span(10_000);
const QUICK_CALM_TIME: Span = Span(5_000);
/// The seed of runs without faults.
const CALM_SEED: u64 = 1;
/// Samples a second in runs without faults: copies are counted by them.
const CALM_SAMPLE_HZ: u32 = 20;

/// Options of `compare`.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// What to test: node, kafka, or kafka:VERSION
    #[arg(long, value_name = "NAME", default_value = "node")]
    target: String,
    /// Runs with faults: both ends included; 1..5 unless given
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    seeds: Option<SeedRange>,
    /// Fewer and shorter runs, a few minutes in all
    #[arg(long)]
    quick: bool,
    /// Time limits of the cluster
    #[arg(long)]
    timing: Option<TimingOption>,
    /// A property of all nodes (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A feature level that a new cluster begins with (repeatable; kafka only)
    #[arg(long, value_name = "NAME=LEVEL")]
    feature: Vec<String>,
    /// Where the comparison and its run folders go
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// The comparison as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Carries out a comparison.
pub(super) fn compare(args: &CompareArgs) -> Exit {
    Comparing::of(args).finish().unwrap_or_else(|Stopped { failure, reproduce }| {
        let exit = refuse(&failure);
        if let Some(command) = reproduce.filter(|_| exit != Exit::Usage) {
            crate::stderr::line(format_args!("{command}"));
        }
        exit
    })
}

/// What ended a comparison early.
struct Stopped {
    failure: Failure,
    /// The command that repeats the run that it ended, if it was one.
    reproduce: Option<String>,
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self { failure, reproduce: None }
    }
}

/// A comparison under way.
struct Comparing<'a> {
    args: &'a CompareArgs,
    folder: PathBuf,
    faulty: Vec<FaultyRun>,
    calm: Vec<CalmCell>,
    target: String,
    worst: Exit,
}

impl<'a> Comparing<'a> {
    fn of(args: &'a CompareArgs) -> Self {
        let folder = args.out.join(format!("compare-{}", new_run_id()));
        let (faulty, calm, target) = (Vec::new(), Vec::new(), args.target.clone());
        Self { args, folder, faulty, calm, target, worst: Exit::Valid }
    }

    fn finish(mut self) -> Result<Exit, Stopped> {
        let usual = if self.args.quick { QUICK_SEEDS } else { SEEDS };
        let seeds = self.args.seeds.unwrap_or(usual);
        let (rates, time): (&[u32], Span) = match self.args.quick {
            true => (&QUICK_RATES, QUICK_CALM_TIME),
            false => (&RATES, CALM_TIME),
        };
        for seed in seeds.first..=seeds.last {
            self.with_faults(seed)?;
        }
        for rate in rates {
            self.without_faults(*rate, time)?;
        }
        Ok(self.write()?)
    }

    fn run_args(&self, schedule: &str) -> RunArgs {
        RunArgs {
            target: Some(self.args.target.clone()),
            schedule: Some(schedule.to_owned()),
            workload: Some("matrix".to_owned()),
            partitions: Some(1),
            timing: self.args.timing,
            set: self.args.set.clone(),
            feature: self.args.feature.clone(),
            out: self.folder.join("runs"),
            ..RunArgs::default()
        }
    }

    fn with_faults(&mut self, seed: u64) -> Result<(), Stopped> {
        let args = self.run_args("compare");
        let run = Self::one(&args, seed)?;
        self.tell(&format!("seed {seed}: {}", run.verdict.verdict.as_str()));
        let cells = measure(&run.folder, compare::faulty)?;
        self.take(&run);
        self.faulty.push(FaultyRun { run: compared(seed, &run), cells });
        Ok(())
    }

    fn without_faults(&mut self, rate: u32, time: Span) -> Result<(), Stopped> {
        let args = RunArgs {
            rate: Some(rate),
            time: Some(time),
            sample_hz: Some(CALM_SAMPLE_HZ),
            no_report: true,
            ..self.run_args("calm")
        };
        let run = Self::one(&args, CALM_SEED)?;
        self.tell(&format!("{rate} sends a second: {}", run.verdict.verdict.as_str()));
        let cells =
            measure(&run.folder, |view, keys| compare::calm(&run.folder, (view, keys), rate))?;
        let cells = cells.map_err(Failure::from)?;
        self.take(&run);
        self.calm.extend(cells);
        Ok(())
    }

    /// Notes what every run tells of the comparison as a whole.
    fn take(&mut self, run: &OneRun) {
        self.worst = self.worst.worse(run.exit());
        if run.exit() != Exit::Valid {
            self.tell(&run.reproduce);
        }
        let manifest = highwater_history::Manifest::read(&run.folder.manifest_path());
        if let Some(version) = manifest.ok().map(|m| m.target.version).filter(|v| !v.is_empty()) {
            let name = self.args.target.split(':').next().unwrap_or_default();
            self.target = format!("{name} {version}");
        }
    }

    fn one(args: &RunArgs, seed: u64) -> Result<OneRun, Stopped> {
        let reproduce = repeat(args, seed);
        one_of(args, seed, Ui::new(true), reproduce.clone())
            .map_err(|failure| Stopped { failure, reproduce: Some(reproduce) })
    }

    fn tell(&self, text: &str) {
        crate::stderr::line(format_args!("{text}"));
    }

    fn write(self) -> Result<Exit, Failure> {
        let command: Vec<String> = words().skip(1).map(|word| quoted(&word)).collect();
        let command = format!("highwater {}", command.join(" "));
        let shared = shared(self.args);
        let comparison = Comparison::of((self.target, command), shared, self.faulty, self.calm);
        let (json, page) = (self.folder.join("compare.json"), self.folder.join("compare.html"));
        comparison.write(&json)?;
        fs::write(&page, compare::page(&comparison))
            .map_err(|error| Failure::Harness(format!("{}: {error}", page.display())))?;
        if self.args.json {
            out::json(&comparison);
        } else {
            comparison.advice.iter().for_each(|sentence| out::line(sentence));
            out::line(&format!("comparison: {}", page.display()));
        }
        Ok(self.worst)
    }
}

/// The command that repeats one of the runs.
fn repeat(args: &RunArgs, seed: u64) -> String {
    let mut words = vec!["highwater".to_owned(), "run".to_owned()];
    let mut say = |option: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [option.to_owned(), quoted(&value)]));
    };
    say("--target", args.target.clone());
    say("--schedule", args.schedule.clone());
    say("--workload", args.workload.clone());
    say("--partitions", args.partitions.map(|count| count.to_string()));
    let timing = args.timing.and_then(|timing| timing.to_possible_value());
    say("--timing", timing.map(|timing| timing.get_name().to_owned()));
    say("--rate", args.rate.map(|rate| rate.to_string()));
    say("--time", args.time.map(|time| time.to_string()));
    say("--sample-hz", args.sample_hz.map(|hz| hz.to_string()));
    args.set.iter().for_each(|set| say("--set", Some(set.clone())));
    args.feature.iter().for_each(|feature| say("--feature", Some(feature.clone())));
    say("--seed", Some(seed.to_string()));
    words.join(" ")
}

/// What all cells have in common.
fn shared(args: &CompareArgs) -> BTreeMap<String, String> {
    let mut shared = BTreeMap::from([("replication factor".to_owned(), "3".to_owned())]);
    for text in args.set.iter().chain(&args.feature) {
        if let Some((name, value)) = text.split_once('=') {
            shared.insert(name.to_owned(), value.to_owned());
        }
    }
    shared
}

fn compared(seed: u64, run: &OneRun) -> ComparedRun {
    let Verdict { verdict, anomalies, .. } = &run.verdict;
    ComparedRun {
        seed,
        folder: run.folder.path().display().to_string(),
        verdict: *verdict,
        anomalies: anomalies.clone(),
        reproduce: run.verdict.reproduce.clone(),
    }
}

/// Measures a judged run by the view that its verdict was judged by.
fn measure<T>(
    folder: &RunFolder,
    figures: impl FnOnce(
        &highwater_checker::view::RunView<'_>,
        &[highwater_checker::view::KeyView<'_>],
    ) -> T,
) -> Result<T, Failure> {
    let evidence: Result<Evidence, FormatError> =
        Evidence::load(folder.path(), &Instead::default());
    Ok(look(&evidence?, &Options::default(), figures)?)
}
