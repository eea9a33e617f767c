//! Checkpoint files: a version line, a count line, then one line an entry.

use crate::store::EpochStart;

/// Where each partition's log is durable up to.
pub const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
/// Each partition's high watermark.
pub const HIGH_WATERMARKS: &str = "replication-offset-checkpoint";
/// Each partition's log start, where it is not its first segment's.
pub const LOG_STARTS: &str = "log-start-offset-checkpoint";
/// In a partition's directory: its epoch cache.
pub const LEADER_EPOCHS: &str = "leader-epoch-checkpoint";

const VERSION: &str = "0";

/// One line of an offset checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionOffset {
    /// The topic's name.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
}

/// Writes an offset checkpoint.
pub fn format_offsets(offsets: &[PartitionOffset]) -> String {
    format(offsets, |entry| format!("{} {} {}", entry.topic, entry.partition, entry.offset))
}

/// Reads an offset checkpoint; the error says what is wrong with it.
pub fn parse_offsets(text: &str) -> Result<Vec<PartitionOffset>, String> {
    parse(text, |parts| {
        let [topic, partition, offset] = parts else { return None };
        let (topic, partition) = (String::from(*topic), partition.parse().ok()?);
        Some(PartitionOffset { topic, partition, offset: offset.parse().ok()? })
    })
}

/// Writes an epoch checkpoint.
pub fn format_epochs(epochs: &[EpochStart]) -> String {
    format(epochs, |entry| format!("{} {}", entry.epoch, entry.start_offset))
}

/// Reads an epoch checkpoint; the error says what is wrong with it.
pub fn parse_epochs(text: &str) -> Result<Vec<EpochStart>, String> {
    parse(text, |parts| {
        let [epoch, start_offset] = parts else { return None };
        Some(EpochStart { epoch: epoch.parse().ok()?, start_offset: start_offset.parse().ok()? })
    })
}

fn format<T>(entries: &[T], line: impl Fn(&T) -> String) -> String {
    let lines = entries.iter().map(|entry| line(entry) + "\n");
    format!("{VERSION}\n{}\n", entries.len()) + &lines.collect::<String>()
}

/// An empty file has no entries: Kafka creates some checkpoints empty.
fn parse<T>(text: &str, entry: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<T>, String> {
    let mut lines = text.lines();
    let Some(version) = lines.next() else { return Ok(Vec::new()) };
    if version != VERSION {
        return Err(format!("version {version:?} of the checkpoint format is not supported"));
    }
    if !text.ends_with('\n') {
        // Half a write: the last number may lack digits.
        return Err("the last line of the checkpoint is cut short".to_owned());
    }
    let count = lines.next().unwrap_or_default();
    let count: usize = count.parse().map_err(|_| format!("line 2: {count:?} is no count"))?;
    let numbered = lines.enumerate().map(|(index, line)| {
        let parts: Vec<&str> = line.split(' ').collect();
        entry(&parts).ok_or_else(|| format!("line {}: {line:?} is no entry", index + 3))
    });
    let entries = numbered.collect::<Result<Vec<T>, String>>()?;
    if entries.len() != count {
        return Err(format!("{count} entries are announced and {} are there", entries.len()));
    }
    Ok(entries)
}
