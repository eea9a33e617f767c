//! `highwater check`: the same as `highwater-check`.

pub(super) use highwater_checker::cli::CheckArgs;
use highwater_checker::cli::status_of;

use super::{Exit, out};

/// Judges a run folder or a history file again.
pub(super) fn check(args: &CheckArgs) -> Exit {
    match args.run() {
        Ok((verdict, shown)) => {
            out::print(&shown);
            Exit::of_status(verdict.exit)
        }
        Err(error) => {
            crate::stderr::line(format_args!("highwater: {error:#}"));
            Exit::of_status(status_of(&error))
        }
    }
}
