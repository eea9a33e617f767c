//! The project's own files, as git knows them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("harness lies in the root").to_path_buf()
}

/// Tracked and new, not ignored files whose name ends with `suffix`, relative to the root, sorted.
pub fn files(suffix: &str) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the tree");
    assert!(listed.status.success(), "git ls-files failed: is this a checkout?");
    let text = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let mut found: Vec<PathBuf> = text
        .lines()
        .filter(|name| name.ends_with(suffix))
        .map(PathBuf::from)
        .filter(|name| root().join(name).is_file())
        .collect();
    found.sort();
    found
}

/// The text of one file of the tree.
pub fn read(file: &Path) -> String {
    let path = root().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// True for files that hold only tests or test helpers.
pub fn is_test(file: &Path) -> bool {
    let name = file.to_string_lossy();
    ["/tests/", "/benches/", "/examples/", "/testing/"].iter().any(|part| name.contains(part))
        || name.ends_with("/tests.rs")
        || name.ends_with("_tests.rs")
}

/// The lines of a source file before its in-file test module.
pub fn production_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].ends_with('{'))
        .unwrap_or(lines.len())
}
