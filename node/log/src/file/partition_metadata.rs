//! `partition.metadata`: the topic id that a partition's directory belongs to.

use super::topic_id;

/// Its name in a partition's directory.
pub const FILE: &str = "partition.metadata";

/// The file's content.
pub fn format(id: u128) -> String {
    format!("version: 0\ntopic_id: {}", topic_id::format(id))
}

/// The topic id that the file names; none when it is not such a file.
pub fn parse(text: &str) -> Option<u128> {
    let mut lines = text.lines();
    let version = lines.next()?.strip_prefix("version:")?;
    let id = lines.next()?.strip_prefix("topic_id:")?;
    (version.trim() == "0").then(|| topic_id::parse(id.trim()))?
}
