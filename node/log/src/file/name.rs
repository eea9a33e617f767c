//! The names of partition directories and of the files in them.

/// The directory of the metadata log.
pub const METADATA_DIR: &str = "__cluster_metadata-0";

/// Ends the name of a directory that is being removed.
const DELETED: &str = "-delete";
/// Ends the name of a directory that belongs to no partition any more and is kept for an operator.
const STRAY: &str = "-stray";
/// The longest name that file systems take, in bytes.
const LONGEST: usize = 255;

/// The kinds of files that belong to one base offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// Record batches.
    Log,
    /// Positions by offset.
    OffsetIndex,
    /// Offsets by timestamp.
    TimeIndex,
    /// Aborted transactions.
    TransactionIndex,
    /// Producer state before the offset.
    ProducerSnapshot,
}

impl FileKind {
    /// All of them.
    pub const ALL: [FileKind; 5] = [
        FileKind::Log,
        FileKind::OffsetIndex,
        FileKind::TimeIndex,
        FileKind::TransactionIndex,
        FileKind::ProducerSnapshot,
    ];

    fn suffix(self) -> &'static str {
        match self {
            FileKind::Log => ".log",
            FileKind::OffsetIndex => ".index",
            FileKind::TimeIndex => ".timeindex",
            FileKind::TransactionIndex => ".txnindex",
            FileKind::ProducerSnapshot => ".snapshot",
        }
    }

    /// The file's name: 20 digits and the suffix.
    pub fn name(self, offset: i64) -> String {
        format!("{offset:020}{}", self.suffix())
    }

    /// The kind and offset that a file's name tells; none for any other file.
    pub fn parse(name: &str) -> Option<(FileKind, i64)> {
        let (digits, suffix) = name.split_at_checked(20)?;
        let kind = FileKind::ALL.into_iter().find(|kind| kind.suffix() == suffix)?;
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| digits.parse().ok())?.map(|offset| (kind, offset))
    }
}

/// The topic and partition that a directory's name tells; none for any other directory. Topic names
/// are as Kafka allows them, so no directory leads out of the log directory.
pub fn parse_dir(name: &str) -> Option<(&str, i32)> {
    let (topic, partition) = name.rsplit_once('-')?;
    let digits = partition.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (partition == "0" || !partition.starts_with('0'));
    (canonical && is_topic(topic)).then(|| partition.parse().ok())?.map(|number| (topic, number))
}

fn is_topic(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !matches!(name, "" | "." | "..") && name.len() <= 249 && name.bytes().all(legal)
}

/// What a directory is renamed to before its files are removed. The topic id keeps apart what two
/// topics of one name leave behind.
pub fn deleted_dir(name: &str, topic_id: Option<u128>) -> String {
    renamed(name, topic_id.unwrap_or_default(), DELETED)
}

/// What a stray directory is renamed to, as in Kafka: `id` is any number that was not used before.
pub fn stray_dir(name: &str, id: u128) -> String {
    renamed(name, id, STRAY)
}

fn renamed(name: &str, id: u128, end: &str) -> String {
    let end = format!(".{id:032x}{end}");
    let kept = name.len().min(LONGEST - end.len());
    format!("{}{end}", &name[..kept])
}

/// True for what [`deleted_dir`] gives, and what Kafka leaves behind in the same way.
pub fn is_deleted_dir(name: &str) -> bool {
    name.ends_with(DELETED)
}
