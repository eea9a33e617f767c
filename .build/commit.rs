// Tells a program which commit it was built from, as the environment variable HIGHWATER_COMMIT.
//
// Included by build scripts. Only release builds ask git: a debug build would be made anew after
// every commit.

use std::{env, process::Command};

/// Sets `HIGHWATER_COMMIT`; `unknown` outside of a checkout.
fn note_commit() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if env::var("PROFILE").as_deref() != Ok("release") {
        println!("cargo::rustc-env=HIGHWATER_COMMIT=debug");
        return;
    }
    if let Some(folder) = git(&["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=HIGHWATER_COMMIT={commit}");
}
