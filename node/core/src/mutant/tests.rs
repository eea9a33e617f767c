//! The table of mutants is complete and addressable.

use super::*;

#[test]
fn every_mutant_is_found_by_its_id_and_file_name() {
    assert!(!TABLE.is_empty());
    for (name, summary, entry) in TABLE {
        assert_eq!(name.to_uppercase(), entry.id, "a file is named for its id");
        assert_eq!(find(entry.id).map(|e| e.id), Some(entry.id));
        assert!(summary.ends_with('.'), "{name}: {summary}");
    }
}

#[test]
fn an_unknown_id_is_no_mutant() {
    assert!(find("HW-00").is_none());
}
