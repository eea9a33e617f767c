//! Whoever builds on the library gets no runtime with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Each package of Cargo.lock with those that it depends on, tests included.
fn packages() -> BTreeMap<String, Vec<String>> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let lock: toml::Table =
        fs::read_to_string(lock).expect("it is there").parse().expect("it is TOML");
    let packages = lock["package"].as_array().expect("a list").iter().map(|package| {
        let name = package["name"].as_str().expect("a name").to_owned();
        let on = package.get("dependencies").and_then(|on| on.as_array());
        // Where there are several versions, the version stands behind the name.
        let name_of = |on: &toml::Value| on.as_str()?.split(' ').next().map(str::to_owned);
        (name, on.into_iter().flatten().filter_map(name_of).collect::<Vec<_>>())
    });
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    packages.for_each(|(name, on)| all.entry(name).or_default().extend(on));
    all
}

/// Everything that a package needs.
fn needs(packages: &BTreeMap<String, Vec<String>>, name: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::from([name.to_owned()]);
    let mut next = vec![name.to_owned()];
    while let Some(name) = next.pop() {
        let on = packages.get(&name).unwrap_or_else(|| panic!("{name} is in Cargo.lock"));
        next.extend(on.iter().filter(|name| all.insert((*name).clone())).cloned());
    }
    all
}

#[test]
fn checker_and_history_need_no_runtime() {
    let packages = packages();
    for name in ["highwater-history", "highwater-checker"] {
        let needs = needs(&packages, name);
        assert!(needs.contains("serde_json"), "{name} reads JSON");
        for runtime in ["tokio", "mio", "async-std", "smol", "futures-executor"] {
            assert!(!needs.contains(runtime), "{name} needs {runtime}");
        }
    }
    assert!(needs(&packages, "highwater-harness").contains("tokio"), "it would be seen");
}
