//! What a schedule needs of the options, and options that contradict it.

use clap::ValueEnum;

use super::{args::RunArgs, setup::BadOption};
use crate::steps::{Schedule, Source};

/// Sets the options that the schedule needs.
///
/// # Errors
/// When one was given with another value, or the schedule names no option.
pub(super) fn apply(
    args: &mut RunArgs,
    schedule: &Schedule,
    source: &Source,
) -> Result<(), BadOption> {
    for (option, value) in &schedule.settings.options {
        let bad = |why: String| source.wrong(&format!("settings.options.{option}"), &why);
        let given = set(args, option, value).map_err(bad)?;
        if !given {
            return Err(BadOption(format!(
                "--{option} contradicts schedule {}, which needs {value}; leave it out",
                schedule.name
            )));
        }
    }
    Ok(())
}

/// Sets one option; false when it was given with another value.
fn set(args: &mut RunArgs, option: &str, value: &str) -> Result<bool, String> {
    match option {
        "acks" => choice(&mut args.acks, value),
        "idempotence" => choice(&mut args.idempotence, value),
        "retries" => choice(&mut args.retries, value),
        "isolation" => choice(&mut args.isolation, value),
        "timing" => choice(&mut args.timing, value),
        "workload" => plain(&mut args.workload, value),
        "nodes" => plain(&mut args.nodes, value),
        "producers" => plain(&mut args.producers, value),
        "consumers" => plain(&mut args.consumers, value),
        "topics" => plain(&mut args.topics, value),
        "partitions" => plain(&mut args.partitions, value),
        "replication-factor" => plain(&mut args.replication_factor, value),
        "rate" => default_only(&mut args.rate, value),
        "poll-rate" => default_only(&mut args.poll_rate, value),
        "time" => default_only(&mut args.time, value),
        "sample-hz" => plain(&mut args.sample_hz, value),
        "controllers" => plain(&mut args.controllers, value),
        _ => Err("no option that a schedule may set".into()),
    }
}

fn choice<T: ValueEnum + PartialEq + Copy>(
    slot: &mut Option<T>,
    value: &str,
) -> Result<bool, String> {
    let wanted = T::from_str(value, false).map_err(|_| {
        let known = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|one| one.get_name().to_owned()).collect();
        format!("`{value}` is none of {}", known.join(", "))
    })?;
    Ok(*slot.get_or_insert(wanted) == wanted)
}

fn plain<T>(slot: &mut Option<T>, value: &str) -> Result<bool, String>
where
    T: std::str::FromStr + PartialEq + Clone,
{
    let wanted: T = value.parse().map_err(|_| format!("`{value}` is no whole number"))?;
    Ok(*slot.get_or_insert(wanted.clone()) == wanted)
}

/// How fast and how long is the user's choice; the schedule only has its own default.
fn default_only<T>(slot: &mut Option<T>, value: &str) -> Result<bool, String>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let wanted: T = value.parse().map_err(|why| format!("`{value}`: {why}"))?;
    slot.get_or_insert(wanted);
    Ok(true)
}
