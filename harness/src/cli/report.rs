//! `highwater report`.

use std::path::PathBuf;

use clap::Args;
use highwater_history::RunFolder;

use super::{Exit, out};

/// Options of `report`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A run folder that was judged
    folder: PathBuf,
}

/// Renders a judged run folder again.
pub(super) fn report(args: &ReportArgs) -> Exit {
    let folder = RunFolder::new(&args.folder);
    if folder.is_running() {
        let run = args.folder.display();
        crate::stderr::line(format_args!(
            "highwater: the run in {run} is still going on; render it once it has ended"
        ));
        return Exit::Usage;
    }
    match highwater_reports::render(&folder) {
        Ok(()) => {
            out::line(&folder.report_path().display().to_string());
            Exit::Valid
        }
        Err(error) => {
            crate::stderr::line(format_args!("highwater: {error}"));
            Exit::Usage
        }
    }
}
