//! Turns `src/claim/` into the table of claims.

include!("../.build/plugins.rs");

fn main() {
    plugin_table("claim");
}
