//! Turns a judged run into something that a person or a CI server reads.
//!
//! [`render`] reads a run folder that has a verdict and writes `report.html`, one self-contained
//! page, and `junit.xml` beside it. `verdict.json` is the checker's own and stays as it is.
//!
//! The page is made of sections, one file each in `src/section/`; a new file is a new section. A
//! section is a function of [`Run`]: everything that the folder holds, boiled down in one pass over
//! the history, so that a run of a million operations takes seconds and stays a small page.

mod activity;
mod chart;
pub mod compare;
mod error;
mod evidence;
pub mod junit;
mod observed;
mod page;
mod parts;
mod run;
mod section;
mod text;

use std::{fs, path::Path};

use highwater_history::RunFolder;

pub use error::ReportError;
pub use run::Run;

/// Writes `report.html` and `junit.xml` of a judged run into its folder, replacing older ones.
///
/// # Errors
///
/// [`ReportError::NotJudged`] without `verdict.json`; otherwise a file of the folder that cannot be
/// used, or one that cannot be written.
pub fn render(folder: &RunFolder) -> Result<(), ReportError> {
    let run = Run::load(folder)?;
    write(&folder.report_path(), &html(&run))?;
    write(&folder.junit_path(), &junit::xml(&run.verdict)?)
}

/// The page of a run, without writing it anywhere.
pub fn html(run: &Run) -> String {
    page::page(run).into_string()
}

fn write(file: &Path, text: &str) -> Result<(), ReportError> {
    fs::write(file, text).map_err(|source| ReportError::Write { file: file.to_owned(), source })
}
