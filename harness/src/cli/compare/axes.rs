//! Which kinds of cluster a comparison is made on: every combination of what its options vary.

use std::collections::{BTreeMap, BTreeSet};

use highwater_workloads::{Settings, workload};

use super::{CompareArgs, WORKLOAD};
use crate::run::{Failure, setup::BadOption};

/// What a table calls `--replication-factor`.
const REPLICATION_FACTOR: &str = "replication.factor";
const USUAL_REPLICAS: u32 = 3;
/// What nodes call `flush.messages`.
const FLUSH_OF_NODES: &str = "log.flush.interval.messages";

/// One kind of cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kind {
    /// In which settings it differs from the others.
    pub(super) differs: BTreeMap<String, String>,
    /// Replicas of each key.
    pub(super) replicas: u32,
    /// `--set`, those of all kinds included.
    pub(super) set: Vec<String>,
    /// `--feature`, those of all kinds included.
    pub(super) feature: Vec<String>,
}

/// All kinds, the first the one that the others are compared with.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do.
pub(super) fn of(args: &CompareArgs) -> Result<Vec<Kind>, Failure> {
    let replicas = if args.replication_factor.is_empty() {
        vec![USUAL_REPLICAS]
    } else {
        args.replication_factor.clone()
    };
    if let Some(wrong) = replicas.iter().find(|replicas| !(1..=USUAL_REPLICAS).contains(*replicas))
    {
        return bad(format!(
            "--replication-factor {wrong}: write 1, 2 or 3, or several with commas"
        ));
    }
    if let Some(twice) = twice(&replicas) {
        return bad(format!("--replication-factor {twice},{twice}: name each number once"));
    }
    if let Some(set) = args.set.iter().find(|set| set_by_topics(name_of(set))) {
        return bad(format!(
            "--set {set}: every topic of the comparison has its own; leave it out"
        ));
    }
    let all = Kind { set: args.set.clone(), feature: args.feature.clone(), ..Kind::default() };
    let several = replicas.len() > 1;
    let mut kinds: Vec<Kind> =
        replicas.iter().map(|replicas| with_replicas(&all, *replicas, several)).collect();
    let vary = Varied { option: "--vary", fixes: "--set", fixed: &args.set };
    for (name, values) in vary.axes(&args.vary)? {
        if set_by_topics(name) {
            return bad(format!(
                "--vary {name}: every topic of the comparison has its own; the table shows what it \
                 does"
            ));
        }
        kinds = combined(&kinds, name, &values, |kind, pair| kind.set.push(pair));
    }
    let vary = Varied { option: "--vary-feature", fixes: "--feature", fixed: &args.feature };
    for (name, values) in vary.axes(&args.vary_feature)? {
        kinds = combined(&kinds, name, &values, |kind, pair| kind.feature.push(pair));
    }
    Ok(kinds)
}

/// Refuses properties that have no effect on the target, whatever their values.
///
/// # Errors
/// One sentence: which option, what is wrong, what to do.
pub(super) fn have_effect(
    args: &CompareArgs,
    without_effect: &BTreeSet<String>,
) -> Result<(), Failure> {
    match args.vary.iter().find(|text| without_effect.contains(name_of(text))) {
        Some(text) => bad(format!(
            "--vary {text}: target {} says that {} has no effect, so its clusters would not \
             differ; leave it out",
            args.target,
            name_of(text)
        )),
        None => Ok(()),
    }
}

/// Whether all topics have a value of their own for this, so that the nodes' counts nowhere.
fn set_by_topics(name: &str) -> bool {
    let name = if name == FLUSH_OF_NODES { "flush.messages" } else { name };
    let plans = workload::find(WORKLOAD).map(|entry| (entry.topics)(&Settings::default()));
    plans.is_some_and(|plans| plans.iter().all(|plan| plan.configs.contains_key(name)))
}

fn name_of(pair: &str) -> &str {
    pair.split_once('=').map_or(pair, |(name, _)| name)
}

/// The first that stands in the list a second time.
fn twice<T: Ord>(list: &[T]) -> Option<&T> {
    let mut seen = BTreeSet::new();
    list.iter().find(|one| !seen.insert(*one))
}

/// The first two values that are written in two ways and mean one thing: whole numbers, fractions
/// and yes or no, as Kafka reads them.
fn alike<'a>(values: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    values.iter().find_map(|value| Some((seen.insert(meaning(value), value)?, *value)))
}

fn meaning(value: &str) -> String {
    let value = value.trim();
    let digits = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let fraction = || value.parse::<f64>().ok().filter(|_| value.chars().all(digits));
    if let Ok(whole) = value.parse::<i64>() {
        whole.to_string()
    } else if let Some(fraction) = fraction() {
        fraction.to_string()
    } else if ["true", "false"].iter().any(|known| value.eq_ignore_ascii_case(known)) {
        value.to_ascii_lowercase()
    } else {
        value.to_owned()
    }
}

/// An option that varies something, and the one that gives the same thing one value.
struct Varied<'a> {
    option: &'a str,
    fixes: &'a str,
    fixed: &'a [String],
}

impl Varied<'_> {
    /// Names with their values, each of them once.
    fn axes<'t>(&self, texts: &'t [String]) -> Result<Vec<(&'t str, Vec<&'t str>)>, Failure> {
        let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
        let Self { option, fixes, fixed } = self;
        for text in texts {
            let (name, values) = axis(option, text)?;
            if let Some(value) = twice(&values) {
                return bad(format!("{option} {text}: {value} stands twice; name each value once"));
            }
            if let Some((one, other)) = alike(&values) {
                return bad(format!(
                    "{option} {text}: {one} and {other} are the same; name each value once"
                ));
            }
            if axes.iter().any(|(known, _)| *known == name) {
                return bad(format!(
                    "{option} {text}: {name} varies twice; name all values in one"
                ));
            }
            if let Some(one) = fixed.iter().find(|one| name_of(one) == name) {
                return bad(format!(
                    "{option} {text}: {fixes} {one} fixes it; leave one of them out"
                ));
            }
            axes.push((name, values));
        }
        Ok(axes)
    }
}

fn with_replicas(all: &Kind, replicas: u32, several: bool) -> Kind {
    let mut kind = Kind { replicas, ..all.clone() };
    if several {
        kind.differs.insert(REPLICATION_FACTOR.to_owned(), replicas.to_string());
    }
    kind
}

fn combined(
    kinds: &[Kind],
    name: &str,
    values: &[&str],
    add: impl Fn(&mut Kind, String),
) -> Vec<Kind> {
    let mut all = Vec::new();
    for value in values {
        for kind in kinds {
            let mut kind = kind.clone();
            add(&mut kind, format!("{name}={value}"));
            kind.differs.insert(name.to_owned(), (*value).to_owned());
            all.push(kind);
        }
    }
    all
}

/// `NAME=VALUE,VALUE,...`
fn axis<'a>(option: &str, text: &'a str) -> Result<(&'a str, Vec<&'a str>), Failure> {
    let parts =
        text.split_once('=').map(|(name, values)| (name, values.split(',').collect::<Vec<_>>()));
    match parts {
        Some((name, values)) if !name.is_empty() && is_several(&values) => Ok((name, values)),
        _ => bad(format!("{option} {text}: write NAME=VALUE,VALUE with two values or more")),
    }
}

fn is_several(values: &[&str]) -> bool {
    values.len() > 1 && values.iter().all(|value| !value.is_empty())
}

fn bad<T>(problem: String) -> Result<T, Failure> {
    Err(BadOption(problem).into())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: CompareArgs,
    }

    fn kinds(words: &[&str]) -> Result<Vec<Kind>, String> {
        let line = Line::parse_from(["compare"].iter().chain(words));
        of(&line.args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn one_kind_differs_in_nothing() {
        let one = kinds(&["--set", "a=1"]).unwrap();
        assert_eq!(one.len(), 1);
        assert!(one[0].differs.is_empty());
        assert_eq!((one[0].replicas, &one[0].set), (3, &vec!["a=1".to_owned()]));
    }

    #[test]
    fn what_varies_is_combined_with_all_the_rest() {
        let words = ["--replication-factor", "3,1", "--vary", "lag=5,9", "--vary-feature", "f=0,1"];
        let all = kinds(&words).unwrap();
        assert_eq!(all.len(), 8);
        let first = &all[0];
        assert_eq!((first.replicas, &first.set), (3, &vec!["lag=5".to_owned()]));
        assert_eq!(first.feature, ["f=0"]);
        let names: Vec<_> = all.iter().map(|kind| kind.differs.clone()).collect();
        assert!((1..names.len()).all(|nth| !names[..nth].contains(&names[nth])), "{names:?}");
    }

    #[test]
    fn a_value_alone_is_no_axis() {
        for words in [["--vary", "lag=5"], ["--vary", "lag=5,"], ["--vary-feature", "f"]] {
            let why = kinds(&words).unwrap_err();
            assert!(why.contains("with two values or more"), "{why}");
        }
        let why = kinds(&["--replication-factor", "4"]).unwrap_err();
        assert!(why.contains("write 1, 2 or 3"), "{why}");
    }

    /// Two clusters that do not differ are the same runs under two names.
    #[test]
    fn kinds_that_would_not_differ_are_refused() {
        for (words, sentence) in [
            (&["--replication-factor", "3,3"][..], "--replication-factor 3,3: name each number"),
            (&["--vary", "a=5,5"], "--vary a=5,5: 5 stands twice"),
            (&["--vary", "a=500,0500"], "--vary a=500,0500: 500 and 0500 are the same"),
            (&["--vary", "a=500,9,+500"], "500 and +500 are the same"),
            (&["--vary", "a=0.5,.50"], "0.5 and .50 are the same"),
            (&["--vary", "a=5,5.0"], "5 and 5.0 are the same"),
            (&["--vary", "a=true,TRUE"], "true and TRUE are the same"),
            (&["--vary-feature", "f=1,01"], "1 and 01 are the same"),
            (&["--vary", "a=5,9", "--vary", "a=1,2"], "--vary a=1,2: a varies twice"),
            (&["--set", "a=1", "--vary", "a=5,9"], "--vary a=5,9: --set a=1 fixes it"),
            (&["--feature", "f=1", "--vary-feature", "f=0,1"], "--feature f=1 fixes it"),
            (&["--vary", "min.insync.replicas=1,2"], "every topic of the comparison has its own"),
            (&["--vary", "unclean.leader.election.enable=true,false"], "every topic"),
            (&["--vary", "log.flush.interval.messages=1,2"], "every topic"),
            (&["--set", "min.insync.replicas=1"], "--set min.insync.replicas=1: every topic"),
        ] {
            let why = kinds(words).unwrap_err();
            assert!(why.contains(sentence), "{words:?}: {why}");
        }
    }

    #[test]
    fn what_only_looks_alike_varies() {
        for vary in ["a=500,5000", "a=-5,5", "a=x,X", "a=nan,NaN", "a=0.5,0.25"] {
            assert_eq!(kinds(&["--vary", vary]).map(|kinds| kinds.len()), Ok(2), "{vary}");
        }
        // Both are the nearest fraction of one number.
        let whole = "a=9007199254740992,9007199254740993";
        assert_eq!(kinds(&["--vary", whole]).map(|kinds| kinds.len()), Ok(2));
    }

    #[test]
    fn a_property_without_effect_is_refused() {
        let line = Line::parse_from(["compare", "--vary", "a=1,2", "--vary", "b=1,2"]);
        let said = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            have_effect(&line.args, &names).map_err(|failure| failure.to_string())
        };
        assert_eq!(said(&["c"]), Ok(()));
        let why = said(&["b", "c"]).unwrap_err();
        assert!(why.starts_with("--vary b=1,2: target node says that b has no effect"), "{why}");
    }
}
