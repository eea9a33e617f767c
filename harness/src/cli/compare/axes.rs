//! Which kinds of cluster a comparison is made on: every combination of what its options vary.

use std::collections::BTreeMap;

use super::CompareArgs;
use crate::run::{Failure, setup::BadOption};

/// What a table calls `--replication-factor`.
const REPLICATION_FACTOR: &str = "replication.factor";
const USUAL_REPLICAS: u32 = 3;

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
    let all = Kind { set: args.set.clone(), feature: args.feature.clone(), ..Kind::default() };
    let several = replicas.len() > 1;
    let mut kinds: Vec<Kind> =
        replicas.iter().map(|replicas| with_replicas(&all, *replicas, several)).collect();
    for text in &args.vary {
        let (name, values) = axis("--vary", text)?;
        kinds = combined(&kinds, name, &values, |kind, pair| kind.set.push(pair));
    }
    for text in &args.vary_feature {
        let (name, values) = axis("--vary-feature", text)?;
        kinds = combined(&kinds, name, &values, |kind, pair| kind.feature.push(pair));
    }
    Ok(kinds)
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
}
