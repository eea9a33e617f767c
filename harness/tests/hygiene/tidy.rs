//! What every source file must look like; each rule is a function with tests of its own.

use std::path::Path;

use crate::tree;

const MAX_LINES: usize = 500;
const MAX_COLUMNS: usize = 100;
const MAX_BLOB_BYTES: u64 = 200_000;

/// Words of unfinished work and of debugging, cut in two so that this file passes its own rule.
const LEFTOVERS: [(&str, &str); 6] =
    [("FIX", "ME"), ("XX", "X:"), ("TO", "DO"), ("dbg", "!("), ("todo", "!("), ("#[ign", "ore")];

fn first_line_says_what(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("//! ") && first.trim_end().ends_with(['.', '?', ':', ','])
        || first.starts_with("//! ") && text.lines().nth(1).is_some_and(|l| l.starts_with("//!"))
        || first.starts_with("// ") // files that are included and cannot hold a module comment
}

fn long_line(text: &str) -> Option<usize> {
    let fits = |line: &str| line.chars().count() <= MAX_COLUMNS || line.contains("https://");
    text.lines().position(|line| !fits(line)).map(|at| at + 1)
}

fn leftover(text: &str) -> Option<String> {
    LEFTOVERS.iter().map(|(a, b)| format!("{a}{b}")).find(|word| text.contains(word.as_str()))
}

fn complaints(file: &Path, text: &str) -> Vec<String> {
    let name = file.display();
    let mut found = Vec::new();
    if !first_line_says_what(text) {
        found.push(format!("{name}: the first line must be a `//!` sentence"));
    }
    if let Some(line) = long_line(text) {
        found.push(format!("{name}:{line}: longer than {MAX_COLUMNS} columns"));
    }
    if let Some(word) = leftover(text) {
        found.push(format!("{name}: holds `{word}`"));
    }
    let lines = tree::production_lines(text);
    if lines > MAX_LINES && !tree::is_test(file) {
        found.push(format!("{name}: {lines} lines, more than one job"));
    }
    found
}

#[test]
fn sources_are_tidy() {
    let found: Vec<String> = tree::files(".rs")
        .iter()
        .filter(|file| !file.starts_with("harness/tests/hygiene"))
        .flat_map(|file| complaints(file, &tree::read(file)))
        .collect();
    assert!(found.is_empty(), "{} complaints:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_blob_is_large() {
    let large: Vec<String> = tree::files("")
        .iter()
        .filter(|file| !file.ends_with("Cargo.lock"))
        .filter(|file| {
            let path = tree::root().join(file);
            path.metadata().is_ok_and(|meta| meta.len() > MAX_BLOB_BYTES)
        })
        .map(|file| file.display().to_string())
        .collect();
    assert!(large.is_empty(), "over {MAX_BLOB_BYTES} bytes: {large:?}");
}

#[test]
fn the_rules_see_what_they_should() {
    let bad = "use x;\n";
    assert_eq!(complaints(Path::new("a.rs"), bad).len(), 1, "a missing sentence");
    let wide = format!("//! A file.\n// {}\n", "x".repeat(MAX_COLUMNS));
    assert_eq!(complaints(Path::new("a.rs"), &wide).len(), 1, "a long line");
    let long = format!("//! A file.\n{}", "x\n".repeat(MAX_LINES));
    assert_eq!(complaints(Path::new("a.rs"), &long).len(), 1, "a long file");
    let tests = format!("//! A file.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(MAX_LINES));
    assert!(complaints(Path::new("a.rs"), &tests).is_empty(), "tests do not count");
    let unfinished = format!("//! A file.\n// {}{}\n", "TO", "DO");
    assert_eq!(complaints(Path::new("a.rs"), &unfinished).len(), 1, "unfinished work");
}
