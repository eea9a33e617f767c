//! The evidence of a run: what was promised, what clients saw, what replicas hold.

use std::{
    fs,
    path::{Path, PathBuf},
};

use highwater_history::{
    Event, FormatError, Manifest, Offset, Outcome, RunFolder,
    dumps::DumpBatch,
    format::Document,
    lines::Lines,
    metadata::MetadataRecord,
    samples::{Said, Sample},
};

/// Everything that a judgement may stand on; only the history is always there.
#[derive(Debug, Default)]
pub struct Evidence {
    /// What the run was going to be and what was promised.
    pub manifest: Option<Manifest>,
    /// What the clients asked and got.
    pub history: History,
    /// What replicas and controllers said of themselves.
    pub samples: Vec<Sample>,
    /// What replicas held, and where each dump stands.
    pub dumps: Vec<(PathBuf, Lines<DumpBatch>)>,
    /// The committed metadata log, in offset order.
    pub metadata: Vec<MetadataRecord>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// Remarks on the evidence itself, for the verdict's notes.
    pub notes: Vec<String>,
}

/// Where the history is.
#[derive(Debug)]
pub enum History {
    /// In a file, read while it is judged.
    File(PathBuf),
    /// In memory.
    Events(Vec<Event>),
}

impl Default for History {
    fn default() -> Self {
        Self::Events(Vec::new())
    }
}

/// Files to take instead of those that stand beside the history.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    /// A manifest.
    pub manifest: Option<PathBuf>,
    /// A folder of dumps.
    pub dumps: Option<PathBuf>,
}

impl Evidence {
    /// A history alone.
    pub fn of_events(events: Vec<Event>) -> Self {
        Self { history: History::Events(events), ..Self::default() }
    }

    /// Whether nothing but the history is known.
    pub fn is_bare(&self) -> bool {
        self.manifest.is_none()
    }

    /// Reads a run folder, or a bare history file.
    pub fn load(path: &Path, instead: &Instead) -> Result<Self, FormatError> {
        if path.is_dir() {
            Self::load_folder(path, instead)
        } else {
            Self::load_file(path, instead)
        }
    }

    fn load_file(path: &Path, instead: &Instead) -> Result<Self, FormatError> {
        let mut evidence = Self { history: History::File(path.to_owned()), ..Self::default() };
        if let Some(manifest) = &instead.manifest {
            evidence.manifest = Some(Manifest::read(manifest)?);
        }
        evidence.load_dumps(instead.dumps.as_deref())?;
        Ok(evidence)
    }

    fn load_folder(path: &Path, instead: &Instead) -> Result<Self, FormatError> {
        let folder = RunFolder::new(path);
        let history = folder.history_path();
        if !history.exists() {
            let why = "no history.jsonl in this folder; give a run folder or a history file";
            return Err(FormatError::document(path, why));
        }
        let manifest = instead.manifest.clone().unwrap_or_else(|| folder.manifest_path());
        let mut evidence = Self {
            manifest: if manifest.exists() || instead.manifest.is_some() {
                Some(Manifest::read(&manifest)?)
            } else {
                None
            },
            history: History::File(history),
            outcome: folder.outcome()?,
            ..Self::default()
        };
        if let Some(samples) = folder.samples()? {
            evidence.note_dropped("samples.jsonl", samples.dropped.as_ref());
            evidence.samples = samples.lines;
        }
        if let Some(metadata) = folder.metadata()? {
            evidence.note_dropped("metadata.jsonl", metadata.dropped.as_ref());
            evidence.metadata = metadata.lines;
        }
        let dumps = folder.dumps_path();
        let beside = dumps.is_dir().then_some(dumps);
        evidence.load_dumps(instead.dumps.as_deref().or(beside.as_deref()))?;
        Ok(evidence)
    }

    fn note_dropped(&mut self, file: &str, dropped: Option<&String>) {
        if dropped.is_some() {
            self.notes.push(format!("{file}: the last line is incomplete and was dropped"));
        }
    }

    fn load_dumps(&mut self, folder: Option<&Path>) -> Result<(), FormatError> {
        let Some(folder) = folder else { return Ok(()) };
        let mut files = Vec::new();
        list_files(folder, &mut files).map_err(|source| FormatError::io(folder, source))?;
        files.sort();
        for file in files {
            let dump = Lines::read(&file)?;
            let name = file.strip_prefix(folder).unwrap_or(&file).to_owned();
            self.fits_manifest(&file, &dump)?;
            check_order(&file, &dump)?;
            self.dumps.push((name, dump));
        }
        self.resolve_same_as(folder)
    }

    /// Refuses a dump of a node or topic that the manifest does not know.
    fn fits_manifest(&self, file: &Path, dump: &Lines<DumpBatch>) -> Result<(), FormatError> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let (node, topic) = (dump.header.node, &dump.header.topic);
        let nodes = &manifest.target.nodes;
        if !nodes.is_empty() && !nodes.iter().any(|known| known.id == node) {
            let why = format!("field `node`: the manifest has no node {node}; is this its dump?");
            return Err(FormatError::document(file, why));
        }
        let topics = &manifest.target.topics;
        if !topics.is_empty() && !topics.iter().any(|known| known.name == *topic) {
            let why =
                format!("field `topic`: the manifest has no topic {topic:?}; is this its dump?");
            return Err(FormatError::document(file, why));
        }
        Ok(())
    }

    /// Copies the batches that a dump shares with another one.
    fn resolve_same_as(&mut self, folder: &Path) -> Result<(), FormatError> {
        for at in 0..self.dumps.len() {
            let Some(same) = self.dumps[at].1.header.same_as.clone() else { continue };
            let from = self.dumps[at].1.header.from;
            let Some((_, other)) = self.dumps.iter().find(|(name, _)| *name == same.file) else {
                let file = folder.join(&self.dumps[at].0);
                let why = format!("field `same_as`: there is no dump {}", same.file.display());
                return Err(FormatError::document(&file, why));
            };
            if other.header.same_as.is_some() {
                let file = folder.join(&self.dumps[at].0);
                let why = format!("field `same_as`: {} refers on itself", same.file.display());
                return Err(FormatError::document(&file, why));
            }
            let shared = other
                .lines
                .iter()
                .filter(|batch| batch.last_offset >= from && batch.base_offset < same.to);
            let mut lines: Vec<DumpBatch> = shared.cloned().collect();
            let dump = &mut self.dumps[at].1;
            lines.append(&mut dump.lines);
            dump.lines = lines;
            dump.header.same_as = None;
        }
        Ok(())
    }

    /// Samples of leadership: a partition's state with the time it was surely known by.
    pub fn partition_samples(
        &self,
    ) -> impl Iterator<Item = (&Sample, &highwater_history::samples::PartitionState)> {
        self.samples.iter().filter_map(|sample| match &sample.said {
            Said::Partition(state) => Some((sample, state)),
            Said::Replica(_) | Said::Silent { .. } => None,
        })
    }
}

/// Refuses a dump whose batches do not follow on each other.
fn check_order(file: &Path, dump: &Lines<DumpBatch>) -> Result<(), FormatError> {
    let mut next = Offset::MIN;
    for (nth, batch) in dump.lines.iter().enumerate() {
        if batch.base_offset < next || batch.last_offset < batch.base_offset {
            let why = format!(
                "field `base_offset`: a batch of {} to {} after offset {}",
                batch.base_offset,
                batch.last_offset,
                next.saturating_sub(1)
            );
            let line = nth as u64 + 2;
            return Err(FormatError::Line { file: file.to_owned(), line, why });
        }
        next = batch.last_offset.saturating_add(1);
    }
    Ok(())
}

fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list_files(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
