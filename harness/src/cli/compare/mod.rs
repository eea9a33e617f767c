//! `highwater compare`: many runs over the matrix of settings, one table.

mod axes;
mod measure;
mod repeat;
mod write;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;
use highwater_history::{Manifest, Verdict, format::Document};
use highwater_reports::compare::{Cluster, ComparedRun, Comparison};

use self::{axes::Kind, measure::Measured};
use super::{
    Exit,
    run::{OneRun, one_of, quoted, refuse, words},
};
use crate::{
    cluster::ControllerPlacement,
    run::{
        Failure, RunArgs, Ui,
        args::{SeedRange, TimingOption},
        new_run_id,
        setup::{self, BadOption},
    },
    steps::Span,
    target::{self, Needs},
};

/// The workload whose topics are the cells.
const WORKLOAD: &str = "matrix";
/// Seeds of a comparison that names none.
const SEEDS: SeedRange = SeedRange { first: 1, last: 5 };
/// Seeds of a quick one.
const QUICK_SEEDS: SeedRange = SeedRange { first: 1, last: 3 };
/// Sends a second over all settings in the runs without faults.
const RATES: [u32; 4] = [250, 500, 1_000, 2_000];
const QUICK_RATES: [u32; 2] = [250, 1_000];
/// How long a run without faults sends.
const CALM_TIME: Span = Span(10_000);
const QUICK_CALM_TIME: Span = Span(8_000);
/// The seed of runs that are made once.
const ONE_SEED: u64 = 1;
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
    /// Replicas of each key; several are compared: 3,2,1
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    replication_factor: Vec<u32>,
    /// A property of all nodes
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A feature level that a new cluster begins with (repeatable; kafka only)
    #[arg(long, value_name = "NAME=LEVEL")]
    feature: Vec<String>,
    /// A property of all nodes whose values are compared: one cluster for each (repeatable)
    #[arg(long, value_name = "KEY=VALUE,...")]
    vary: Vec<String>,
    /// A feature whose levels are compared: one cluster for each (repeatable; kafka only)
    #[arg(long, value_name = "NAME=LEVEL,...")]
    vary_feature: Vec<String>,
    /// Measure the runs of this comparison again, and write its page anew
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "target", "seeds", "quick", "timing", "replication_factor", "set", "feature", "vary",
        "vary_feature", "out",
    ])]
    again: Option<PathBuf>,
    /// Where the comparison and its run folders go
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// The comparison as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Carries out a comparison.
pub(super) fn compare(args: &CompareArgs) -> Exit {
    let done = match &args.again {
        Some(folder) => again(folder, args.json),
        None => axes::of(args).map_err(Stopped::from).and_then(|kinds| {
            let comparing = Comparing::of(args, kinds);
            comparing.finish()
        }),
    };
    done.unwrap_or_else(|Stopped { failure, reproduce }| {
        let exit = refuse(&failure);
        if let Some(command) = reproduce.filter(|_| exit != Exit::Usage) {
            crate::stderr::line(format_args!("{command}"));
        }
        exit
    })
}

fn again(folder: &Path, json: bool) -> Result<Exit, Stopped> {
    let comparison = measure::again(folder)?;
    let worst = comparison.runs().map(of_run).fold(Exit::Valid, Exit::worse);
    for run in comparison.runs() {
        if let Some(why) = &run.left_out {
            let (name, verdict) = (&run.folder, run.verdict.as_str());
            crate::stderr::line(format_args!("{name}: {verdict}, not in the figures: {why}"));
        }
    }
    write::write(folder, &comparison)?;
    write::tell(folder, &comparison, json);
    Ok(worst)
}

fn of_run(run: &ComparedRun) -> Exit {
    Exit::of_status(run.verdict.exit())
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

/// In which settings a kind of cluster differs from the others.
type Differs = BTreeMap<String, String>;

/// A comparison under way.
struct Comparing<'a> {
    args: &'a CompareArgs,
    kinds: Vec<Kind>,
    folder: PathBuf,
    target: String,
    worst: Exit,
}

impl<'a> Comparing<'a> {
    fn of(args: &'a CompareArgs, kinds: Vec<Kind>) -> Self {
        let folder = args.out.join(format!("compare-{}", new_run_id()));
        Self { args, kinds, folder, target: args.target.clone(), worst: Exit::Valid }
    }

    fn finish(mut self) -> Result<Exit, Stopped> {
        let mut all = Vec::new();
        for kind in &self.kinds {
            all.push((kind.differs.clone(), self.runs(kind)?));
        }
        // What cannot be run is refused before hours have gone into the rest.
        for (args, seed) in all.iter().flat_map(|(_, runs)| runs) {
            let admitted = setup::admit(args, *seed)?;
            axes::have_effect(self.args, &admitted.without_effect)?;
        }
        let planned = all.iter().map(|(_, runs)| runs.len() as u64).sum();
        let mut done: Vec<(Differs, Vec<Measured>)> = Vec::new();
        for (differs, runs) in all {
            done.push((differs, Vec::new()));
            for (args, seed) in runs {
                let measured =
                    self.measured(&args, seed).inspect_err(|_| self.tell_so_far(&done, planned))?;
                done.last_mut().expect("its kind was just begun").1.push(measured);
                // Whatever ends it from here on, these runs are not lost.
                write::write(&self.folder, &self.comparison(&done, planned))?;
            }
        }
        write::tell(&self.folder, &self.comparison(&done, planned), self.args.json);
        Ok(self.worst)
    }

    /// The comparison of the runs so far.
    fn comparison(&self, done: &[(Differs, Vec<Measured>)], planned: u64) -> Comparison {
        let command: Vec<String> = words().skip(1).map(|word| quoted(&word)).collect();
        let command = format!("highwater {}", command.join(" "));
        let of =
            |(differs, runs): &(Differs, Vec<Measured>)| Cluster::of(differs.clone(), runs.clone());
        let begun = done.iter().filter(|(_, runs)| !runs.is_empty());
        let clusters = (begun.map(of).collect(), planned);
        Comparison::of((self.target.clone(), command), shared(self.args), clusters)
    }

    /// Where the runs are that were done before something ended the comparison.
    fn tell_so_far(&self, done: &[(Differs, Vec<Measured>)], planned: u64) {
        let runs: usize = done.iter().map(|(_, runs)| runs.len()).sum();
        if runs > 0 {
            let page = write::page_in(&self.folder);
            crate::stderr::line(format_args!(
                "comparison so far, {runs} of {planned} runs: {}",
                page.display()
            ));
        }
    }

    /// The runs on one kind of cluster, each with its seed.
    fn runs(&self, kind: &Kind) -> Result<Vec<(RunArgs, u64)>, Failure> {
        let usual = if self.args.quick { QUICK_SEEDS } else { SEEDS };
        let seeds = self.args.seeds.unwrap_or(usual);
        let (rates, time): (&[u32], Span) = match self.args.quick {
            true => (&QUICK_RATES, QUICK_CALM_TIME),
            false => (&RATES, CALM_TIME),
        };
        let faulty = self.run_args(kind, measure::FAULTY);
        let mut runs: Vec<_> =
            (seeds.first..=seeds.last).map(|seed| (faulty.clone(), seed)).collect();
        let down = self.run_args(kind, measure::DOWN);
        if self.may_combine()? {
            let controllers = Some("combined".to_owned());
            runs.push((RunArgs { controllers, ..down.clone() }, ONE_SEED));
        }
        runs.push((down, ONE_SEED));
        runs.extend(rates.iter().map(|rate| {
            let usual = self.run_args(kind, measure::CALM);
            let (rate, time) = (Some(*rate), Some(time));
            let sample_hz = Some(CALM_SAMPLE_HZ);
            (RunArgs { rate, time, sample_hz, no_report: true, ..usual }, ONE_SEED)
        }));
        Ok(runs)
    }

    /// Whether the target's brokers can be controllers, too.
    fn may_combine(&self) -> Result<bool, Failure> {
        let (entry, version) =
            target::known(&self.args.target).map_err(|error| BadOption(error.to_string()))?;
        let features = BTreeMap::new();
        let controllers = ControllerPlacement::Combined;
        let needs = Needs { version, mutants: &[], features: &features, controllers };
        Ok((entry.lacks)(&needs).is_none())
    }

    fn run_args(&self, kind: &Kind, schedule: &str) -> RunArgs {
        RunArgs {
            target: Some(self.args.target.clone()),
            schedule: Some(schedule.to_owned()),
            workload: Some(WORKLOAD.to_owned()),
            partitions: Some(1),
            replication_factor: Some(kind.replicas),
            timing: self.args.timing,
            set: kind.set.clone(),
            feature: kind.feature.clone(),
            out: self.folder.join("runs"),
            ..RunArgs::default()
        }
    }

    /// Carries out one run and takes its figures.
    fn measured(&mut self, args: &RunArgs, seed: u64) -> Result<Measured, Stopped> {
        let reproduce = repeat::command(args, seed);
        let run = one_of(args, seed, Ui::new(true), reproduce.clone())
            .map_err(|failure| Stopped { failure, reproduce: Some(reproduce) })?;
        let schedule = args.schedule.as_deref().unwrap_or_default();
        let verdict = run.verdict.verdict.as_str();
        crate::stderr::line(format_args!("{schedule}, seed {seed}: {verdict}"));
        if run.exit() != Exit::Valid {
            crate::stderr::line(format_args!("{}", run.reproduce));
        }
        self.note_version(&run);
        let compared = compared(schedule, seed, &run);
        let measured = measure::of(compared, &run.folder, Some(run.verdict));
        self.worst = self.worst.worse(of_run(&measured.0));
        Ok(measured)
    }

    /// A target that has versions says which one it was.
    fn note_version(&mut self, run: &OneRun) {
        let manifest = Manifest::read(&run.folder.manifest_path());
        if let Some(version) = manifest.ok().map(|m| m.target.version).filter(|v| !v.is_empty()) {
            let name = self.args.target.split(':').next().unwrap_or_default();
            self.target = format!("{name} {version}");
        }
    }
}

/// What all cells have in common.
fn shared(args: &CompareArgs) -> BTreeMap<String, String> {
    let mut shared = BTreeMap::new();
    let replicas = match &args.replication_factor[..] {
        [] => "3".to_owned(),
        [one] => one.to_string(),
        _ => String::new(),
    };
    if !replicas.is_empty() {
        shared.insert("replication factor".to_owned(), replicas);
    }
    for text in args.set.iter().chain(&args.feature) {
        if let Some((name, value)) = text.split_once('=') {
            shared.insert(name.to_owned(), value.to_owned());
        }
    }
    shared
}

fn compared(schedule: &str, seed: u64, run: &OneRun) -> ComparedRun {
    let Verdict { verdict, anomalies, .. } = &run.verdict;
    let name = run.folder.path().file_name().unwrap_or_default();
    ComparedRun {
        schedule: schedule.to_owned(),
        seed,
        folder: format!("runs/{}", name.to_string_lossy()),
        verdict: *verdict,
        anomalies: anomalies.clone(),
        reproduce: run.verdict.reproduce.clone(),
        left_out: None,
    }
}
