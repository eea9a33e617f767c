//! Turns `src/workload/` into a table: a workload is one file.

include!("../.build/plugins.rs");

fn main() {
    plugin_table("workload");
}
