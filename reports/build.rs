//! Turns `src/section/` into the table of the report's sections.

include!("../.build/plugins.rs");

fn main() {
    plugin_table("section");
}
