//! Judges a run folder and renders its reports.

use highwater_checker::{Evidence, Options, check, evidence::Instead};
use highwater_history::{RunFolder, Verdict, format::Document};

use super::fail::Failure;

/// Judges a folder and writes `verdict.json`, `report.html` and `junit.xml` into it.
///
/// # Errors
/// When a file of the folder cannot be read or written.
pub fn judge(folder: &RunFolder, report: bool) -> Result<Verdict, Failure> {
    let evidence = Evidence::load(folder.path(), &Instead::default())?;
    let verdict = check(&evidence, &Options::default())?;
    verdict.write(&folder.verdict_path())?;
    if report {
        highwater_reports::render(folder)?;
    }
    Ok(verdict)
}
