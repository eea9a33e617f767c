//! Notes the commit that the program is built from, where there is one.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or("unknown".to_owned());
    println!("cargo::rustc-env=HIGHWATER_COMMIT={commit}");
    if let Some(folder) = git(&["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/HEAD");
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
