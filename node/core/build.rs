//! Turns `src/mutant/` into a table, so that a mutant is one file.
#![allow(clippy::disallowed_methods, reason = "cargo tells a build script by its environment")]

include!("../../.build/plugins.rs");

fn main() {
    plugin_table("mutant");
}
