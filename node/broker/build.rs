//! Turns `src/api/` into the table of served APIs.
#![allow(clippy::disallowed_methods)] // a build script is told its folders by the environment

include!("../../.build/plugins.rs");

fn main() {
    plugin_table("api");
}
