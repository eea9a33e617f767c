//! What is fuzzed: functions that take any bytes, and panic where a reader or the judge is wrong.
//!
//! Each reads the bytes as one form of evidence. What is refused is refused with an error; what is
//! accepted means the same however it is read, survives being written and read again, and is judged
//! without a crash.

mod binary;
mod dumps;
mod edn;
mod evidence;
mod folder;
mod history;
mod journal;
mod jsonl;
mod judge;
mod manifest;
mod metadata;
mod operations;
mod outcome;
mod packed;
mod parts;
mod samples;
mod verdict;
mod verifiable;

/// Takes any bytes.
pub type Run = fn(&[u8]);

/// Every target by name, which is that of its file and of its corpus.
pub const TARGETS: [(&str, Run); 15] = [
    ("binary", binary::run),
    ("dumps", dumps::run),
    ("edn", edn::run),
    ("journal", journal::run),
    ("jsonl", jsonl::run),
    ("judge", judge::run),
    ("manifest", manifest::run),
    ("metadata", metadata::run),
    ("operations", operations::run),
    ("outcome", outcome::run),
    ("packed", packed::run),
    ("parts", parts::run),
    ("samples", samples::run),
    ("verdict", verdict::run),
    ("verifiable", verifiable::run),
];
