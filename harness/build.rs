//! Turns the harness's plug-in folders into tables.

include!("../.build/plugins.rs");

fn main() {
    for folder in ["fault", "target"] {
        plugin_table(folder);
    }
}
