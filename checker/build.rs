//! Turns `src/claim/` into the table of claims, and tells the program its commit.

mod plugins {
    include!("../.build/plugins.rs");

    pub fn table() {
        plugin_table("claim");
    }
}

mod commit {
    include!("../.build/commit.rs");

    pub fn note() {
        note_commit();
    }
}

fn main() {
    plugins::table();
    commit::note();
}
