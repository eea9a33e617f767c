//! A verdict, as reports read it.

use highwater_checker::text;
use highwater_history::{Verdict, format::Document};

use super::{evidence, folder::Folder};

/// Reads it, and tells it as text.
pub fn run(bytes: &[u8]) {
    evidence::document::<Verdict>(bytes);
    if let Ok(verdict) = Verdict::read(&Folder::new().write("verdict.json", bytes)) {
        let findings: usize = verdict.claims.iter().map(|claim| claim.findings.len()).sum();
        assert_eq!(verdict.numbered().count(), findings);
        text::of(&verdict);
    }
}
