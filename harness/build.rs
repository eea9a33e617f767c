//! Turns the harness's plug-in folders into tables, and tells the program its commit.

use std::process::Command;

include!("../.build/plugins.rs");

fn main() {
    for folder in ["fault", "schedule", "target"] {
        plugin_table(folder);
    }
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    println!("cargo::rustc-env=HIGHWATER_COMMIT={}", commit());
}

/// The commit that is built; `unknown` outside of a checkout.
fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let printed = output.ok().filter(|output| output.status.success());
    let text = printed.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|| "unknown".to_owned())
}
