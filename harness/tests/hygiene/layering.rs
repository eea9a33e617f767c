//! Holds the manifests to the crate table of docs/architecture.md, and the table to the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::tree;

/// Crate name -> names of our crates that it may depend on, as the table says.
fn allowed(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `highwater-"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let names: BTreeSet<String> = rows.iter().map(|row| row[0].trim_matches('`').into()).collect();
    rows.iter()
        .map(|row| {
            let own = row[0].trim_matches('`').to_owned();
            let may = match row[3] {
                "nothing" => BTreeSet::new(),
                list => match list.strip_prefix("all but ") {
                    Some(out) => {
                        let out = full(out);
                        names.iter().filter(|n| **n != own && !out.contains(*n)).cloned().collect()
                    }
                    None => full(list),
                },
            };
            (own, may)
        })
        .collect()
}

/// The full names of crates that the table names in short.
fn full(list: &str) -> BTreeSet<String> {
    list.split(", ").map(|short| format!("highwater-{short}")).collect()
}

/// Our crates among the dependencies (tests' included) of one manifest.
fn depends_on(manifest: &toml::Table) -> BTreeSet<String> {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .filter_map(|kind| manifest.get(*kind)?.as_table())
        .flat_map(|table| table.keys().cloned())
        .filter(|name| name.starts_with("highwater-"))
        .collect()
}

/// Every crate of the workspace, and of it alone: what is excluded is built only by hand.
fn manifests() -> BTreeMap<String, toml::Table> {
    let root: toml::Table =
        tree::read(Path::new("Cargo.toml")).parse().expect("a manifest is TOML");
    let excluded = root["workspace"]["exclude"].as_array().expect("a list of folders");
    let excluded = |file: &Path| {
        let folder = file.parent().and_then(Path::to_str);
        excluded.iter().any(|known| known.as_str() == folder)
    };
    tree::files("Cargo.toml")
        .iter()
        .filter(|file| *file != Path::new("Cargo.toml") && !excluded(file))
        .map(|file| {
            let table: toml::Table = tree::read(file).parse().expect("a manifest is TOML");
            let name = table["package"]["name"].as_str().expect("a crate has a name").to_owned();
            (name, table)
        })
        .collect()
}

#[test]
fn crates_see_only_what_the_table_allows() {
    let table = allowed(&tree::read(Path::new("docs/architecture.md")));
    let manifests = manifests();
    let (said, are): (Vec<_>, Vec<_>) = (table.keys().collect(), manifests.keys().collect());
    assert_eq!(said, are, "the table names the workspace's crates");
    for (name, manifest) in &manifests {
        let beyond: Vec<String> = depends_on(manifest).difference(&table[name]).cloned().collect();
        assert!(beyond.is_empty(), "{name} may not depend on {beyond:?}");
    }
}

#[test]
fn a_forbidden_dependency_is_seen() {
    let page = "| `highwater-a` | a | x | nothing |\n| `highwater-b` | b | x | a |\n\
                | `highwater-c` | c | x | all but a |\n";
    let table = allowed(page);
    assert_eq!(table["highwater-c"], BTreeSet::from(["highwater-b".to_owned()]));
    let manifest: toml::Table = "[dependencies]\nhighwater-b = \"1\"\n".parse().expect("TOML");
    assert!(!depends_on(&manifest).is_subset(&table["highwater-a"]));
    assert_eq!(table["highwater-b"], BTreeSet::from(["highwater-a".to_owned()]));
}

#[test]
fn one_version_of_each_dependency_is_named_in_one_place() {
    for (name, manifest) in manifests() {
        for kind in ["dependencies", "dev-dependencies"] {
            let Some(table) = manifest.get(kind).and_then(|t| t.as_table()) else { continue };
            for (dependency, spec) in table {
                let shared = spec.get("workspace").and_then(toml::Value::as_bool) == Some(true);
                assert!(shared, "{name}: {dependency} must be `workspace = true`");
            }
        }
    }
}
