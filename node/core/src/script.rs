//! Runs text scripts against a state machine; `UPDATE=1` rewrites what they expect.
//!
//! A script is a list of blocks, one blank line apart: comments, commands, `----`, and what the
//! commands gave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One line of a script: a command, its plain words, and its `key=value` arguments.
pub struct Line<'a> {
    pub command: &'a str,
    pub words: Vec<&'a str>,
    args: BTreeMap<&'a str, &'a str>,
}

impl<'a> Line<'a> {
    pub fn parse(text: &'a str) -> Line<'a> {
        let mut words = text.split_whitespace();
        let command = words.next().expect("a line has a command");
        let (pairs, words): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('='));
        let args = pairs.into_iter().filter_map(|pair| pair.split_once('=')).collect();
        Line { command, words, args }
    }

    /// True when the plain word stands in the line.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.args.get(key).copied()
    }

    pub fn number(&self, key: &str) -> Option<i64> {
        self.text(key).map(|v| v.parse().unwrap_or_else(|_| panic!("{key}={v}: no number")))
    }

    /// The plain word at this position.
    pub fn word(&self, at: usize) -> &'a str {
        self.words.get(at).unwrap_or_else(|| panic!("{}: word {at} is missing", self.command))
    }
}

/// Replays every script of a folder below `testdata`; each gets a fresh machine from `start`.
#[allow(clippy::disallowed_methods, reason = "UPDATE is the rewrite switch of all scripts")]
pub fn check<M: FnMut(&Line<'_>) -> String>(folder: &str, start: impl Fn() -> M) {
    let update = std::env::var("UPDATE").is_ok_and(|v| v == "1");
    for path in paths(folder) {
        let expected = fs::read_to_string(&path).unwrap();
        let told = replay(&expected, start());
        if update {
            fs::write(&path, &told).unwrap();
        } else {
            assert!(told == expected, "{}:\n{told}\nUPDATE=1 rewrites it", path.display());
        }
    }
}

fn paths(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let entries = fs::read_dir(&folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty(), "{} holds no script", folder.display());
    paths.sort();
    paths
}

/// The script with what its commands give now.
fn replay(text: &str, mut execute: impl FnMut(&Line<'_>) -> String) -> String {
    let blocks = text.trim_end().split("\n\n").map(|block| {
        let input = block.split_once("\n----").map_or(block, |(input, _)| input);
        let commands = input.lines().filter(|line| !line.starts_with('#'));
        let told: String = commands.map(|line| execute(&Line::parse(line))).collect();
        format!("{}\n----\n{}", input.trim_end(), told.trim_end())
    });
    blocks.collect::<Vec<String>>().join("\n\n") + "\n"
}
