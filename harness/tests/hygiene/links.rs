//! Documents stay true: links resolve, and README stays short.

use std::path::Path;

use crate::tree;

const README_WORDS: usize = 300;

/// Targets of the relative links of a Markdown text.
fn relative_links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

#[test]
fn every_relative_link_resolves() {
    let mut dead = Vec::new();
    for file in tree::files(".md") {
        let folder = tree::root().join(&file);
        let folder = folder.parent().expect("a file has a folder").to_path_buf();
        for target in relative_links(&tree::read(&file)) {
            if !folder.join(&target).exists() {
                dead.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:?}");
}

#[test]
fn readme_is_short_before_its_links() {
    let readme = tree::read(Path::new("README.md"));
    let (prose, _) = readme.split_once("\n## More").expect("README has a section of links, `More`");
    let words = prose.split_whitespace().count();
    assert!(words <= README_WORDS, "{words} words");
}

#[test]
fn links_are_seen() {
    assert_eq!(relative_links("a [b](c.md#d) [e](https://f) [g](h/i)"), ["c.md", "h/i"]);
}
