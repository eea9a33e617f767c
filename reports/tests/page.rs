//! The page: well-formed, self-contained, escaped, bounded, and saying what it should.

mod fixture;

use std::fs;

use fixture::{Folder, chaos, place, plain};

fn page(name: &str, folder: &Folder) -> String {
    let folder = folder.write(&place(name));
    highwater_reports::render(&folder).unwrap();
    fs::read_to_string(folder.report_path()).unwrap()
}

#[test]
fn invalid() {
    let html = page("invalid", &chaos::invalid(100));
    assert!(html.len() < 1_000_000, "{}", html.len());
}
