//! Writes a comparison as page and JSON, and says what it says.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use highwater_history::format::Document as _;
use highwater_reports::compare::{self, Comparison};

use super::super::out;
use crate::run::Failure;

/// Writes a comparison into its folder. What stood there before is replaced when all of the new is
/// on the disk.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(folder: &Path, comparison: &Comparison) -> Result<(), Failure> {
    let page = page_in(folder);
    let [new_json, new_page] = ["compare.new.json", "compare.new.html"].map(|new| folder.join(new));
    let unwritten = |error: io::Error| Failure::Harness(format!("{}: {error}", folder.display()));
    let whole = compare::page(comparison);
    let written = comparison.write(&new_json).map_err(Failure::from).and_then(|()| {
        File::create(&new_page)
            .and_then(|mut file| file.write_all(whole.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new_page, &page))
            .and_then(|()| fs::rename(&new_json, folder.join("compare.json")))
            .map_err(unwritten)
    });
    if let Err(failure) = written {
        // The first failure is the one to tell.
        let _as_they_are = [new_json, new_page].map(fs::remove_file);
        return Err(failure);
    }
    Ok(())
}

/// Where the page is.
pub(super) fn page_in(folder: &Path) -> PathBuf {
    folder.join("compare.html")
}

/// Says what a comparison says.
pub(super) fn tell(folder: &Path, comparison: &Comparison, json: bool) {
    if json {
        out::json(comparison);
    } else {
        let sentences = comparison.advice.iter().chain(&comparison.findings);
        sentences.for_each(|sentence| out::line(sentence));
        out::line(&format!("comparison: {}", page_in(folder).display()));
    }
}
