//! The command that repeats one run of a comparison.

use clap::ValueEnum as _;

use super::super::run::quoted;
use crate::run::RunArgs;

/// The command that repeats one of the runs.
pub(super) fn command(args: &RunArgs, seed: u64) -> String {
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
    say("--replication-factor", args.replication_factor.map(|count| count.to_string()));
    say("--controllers", args.controllers.clone());
    say("--rate", args.rate.map(|rate| rate.to_string()));
    say("--time", args.time.map(|time| time.to_string()));
    say("--sample-hz", args.sample_hz.map(|hz| hz.to_string()));
    args.set.iter().for_each(|set| say("--set", Some(set.clone())));
    args.feature.iter().for_each(|feature| say("--feature", Some(feature.clone())));
    say("--seed", Some(seed.to_string()));
    words.join(" ")
}
