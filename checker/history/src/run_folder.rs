//! A run folder: where its files are, and reading those that are there.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    convert::{ConvertError, convert},
    dump_folder::DumpFolder,
    format::{Document, FormatError},
    journal::JournalEntry,
    lines::{Lines, count_lines},
    manifest::Manifest,
    metadata::MetadataRecord,
    outcome::{Outcome, Written},
    reader::{HistoryFile, HistoryFormat, HistoryReader},
    samples::Sample,
    verdict::Verdict,
};

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at `path`, whether or not it is there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `manifest.json`.
    pub fn manifest_path(&self) -> PathBuf {
        self.path.join("manifest.json")
    }

    /// The history: `history.jsonl`, or that name with `.zst` or `.gz`, or `history.hwh`, if only
    /// that is there.
    pub fn history_path(&self) -> PathBuf {
        let (lines, binary) = (self.lines_path("history.jsonl"), self.binary_path());
        if !lines.exists() && binary.exists() { binary } else { lines }
    }

    fn binary_path(&self) -> PathBuf {
        self.path.join("history.hwh")
    }

    /// Replaces a history of JSON lines by its binary form, once that is complete.
    ///
    /// # Errors
    /// When the one cannot be read or the other not be written.
    pub fn make_history_binary(&self) -> Result<(), ConvertError> {
        let lines = self.history_path();
        let file = HistoryFile::from(&lines);
        if file.format == HistoryFormat::Binary {
            return Ok(());
        }
        convert(&file, &self.binary_path(), HistoryFormat::Binary)?;
        fs::remove_file(&lines).map_err(|said| ConvertError::Write { file: lines, said })
    }

    /// The file of this name, or that name with `.zst` or `.gz` if only that is there.
    fn lines_path(&self, name: &str) -> PathBuf {
        let plain = self.path.join(name);
        let packed = ["zst", "gz"].map(|suffix| self.path.join(format!("{name}.{suffix}")));
        match packed.into_iter().find(|path| path.exists()) {
            Some(path) if !plain.exists() => path,
            _ => plain,
        }
    }

    /// `samples.jsonl`, packed or not as the history.
    pub fn samples_path(&self) -> PathBuf {
        self.lines_path("samples.jsonl")
    }

    /// `dumps/`.
    pub fn dumps_path(&self) -> PathBuf {
        self.path.join("dumps")
    }

    /// `metadata.jsonl`, packed or not as the history.
    pub fn metadata_path(&self) -> PathBuf {
        self.lines_path("metadata.jsonl")
    }

    /// `journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// `nodes/ID/`.
    pub fn node_path(&self, node: crate::types::NodeId) -> PathBuf {
        self.path.join("nodes").join(node.to_string())
    }

    /// `outcome.json`.
    pub fn outcome_path(&self) -> PathBuf {
        self.path.join("outcome.json")
    }

    /// `verdict.json`.
    pub fn verdict_path(&self) -> PathBuf {
        self.path.join("verdict.json")
    }

    /// `report.html`.
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// `junit.xml`.
    pub fn junit_path(&self) -> PathBuf {
        self.path.join("junit.xml")
    }

    /// Whether the run goes on: for as long as it does, its harness has a lock on the heal journal.
    pub fn is_running(&self) -> bool {
        let journal = File::open(self.journal_path());
        let free = journal.and_then(|file| Ok(file.try_lock_shared()?));
        free.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until the run does not go on any more.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn wait_until_ended(&self) -> io::Result<()> {
        match File::open(self.journal_path()) {
            Ok(journal) => journal.lock_shared(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The manifest, which every run folder has.
    pub fn manifest(&self) -> Result<Manifest, FormatError> {
        Manifest::read(&self.manifest_path())
    }

    /// The outcome; none when the run was cut short, also while it was being written.
    pub fn outcome(&self) -> Result<Option<Outcome>, FormatError> {
        if_there(&self.outcome_path(), Outcome::read_if_whole).map(Option::flatten)
    }

    /// The verdict; none before it was judged.
    pub fn verdict(&self) -> Result<Option<Verdict>, FormatError> {
        if_there(&self.verdict_path(), Verdict::read)
    }

    /// The history, read event by event.
    pub fn history(&self) -> Result<HistoryReader, FormatError> {
        HistoryReader::open(&self.history_path())
    }

    /// How many events the history holds.
    pub fn count_events(&self) -> Result<u64, FormatError> {
        self.history()?.count()
    }

    /// How much evidence stands beside the history.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn count_written(&self) -> Result<Written, FormatError> {
        Ok(Written {
            samples: count_lines(&self.samples_path())?,
            metadata: count_lines(&self.metadata_path())?,
            dumps: if_there(&self.dumps_path(), DumpFolder::count)?.unwrap_or(0),
        })
    }

    /// The samples; none when nobody took any, or their file was not even begun.
    pub fn samples(&self) -> Result<Option<Lines<Sample>>, FormatError> {
        if_there(&self.samples_path(), Lines::read_if_begun).map(Option::flatten)
    }

    /// The committed metadata log; none when it was not kept, or its file was not even begun.
    pub fn metadata(&self) -> Result<Option<Lines<MetadataRecord>>, FormatError> {
        if_there(&self.metadata_path(), Lines::read_if_begun).map(Option::flatten)
    }

    /// The heal journal; none when nothing had to be healed.
    pub fn journal(&self) -> Result<Option<Lines<JournalEntry>>, FormatError> {
        if_there(&self.journal_path(), Lines::read_if_begun).map(Option::flatten)
    }

    /// The dumps; none when nobody took any.
    pub fn dumps(&self) -> Result<DumpFolder, FormatError> {
        if_there(&self.dumps_path(), DumpFolder::read).map(Option::unwrap_or_default)
    }
}

fn if_there<T>(
    path: &Path,
    read: impl FnOnce(&Path) -> Result<T, FormatError>,
) -> Result<Option<T>, FormatError> {
    match path.try_exists() {
        Ok(true) => read(path).map(Some),
        Ok(false) => Ok(None),
        Err(source) => Err(FormatError::io(path, source)),
    }
}
