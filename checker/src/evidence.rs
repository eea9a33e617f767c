//! The evidence of a run: what was promised, what clients saw, what replicas hold.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use highwater_history::{
    Event, FormatError, Manifest, Outcome, RunFolder,
    dump_folder::{DumpFile, DumpFolder},
    dumps::{DumpHeader, Moment},
    format::Document,
    lines::{Line, Lines},
    manifest::Kind,
    metadata::MetadataRecord,
    outcome::{Ended, Written},
    reader::HistoryFile,
    samples::{Said, Sample},
};

use crate::finding::Permission;

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
    pub dumps: Vec<DumpFile>,
    /// The committed metadata log, in offset order.
    pub metadata: Vec<MetadataRecord>,
    /// Whether the metadata log goes on where its file ends.
    pub metadata_is_cut: bool,
    /// Whether dumps are missing that somebody took.
    pub lacks_dumps: bool,
    /// Files that nobody completed; with them a verdict is at best unknown.
    pub incomplete: Vec<String>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// Remarks on the evidence itself, for the verdict's notes.
    pub notes: Vec<String>,
}

/// Where the history is.
#[derive(Debug)]
pub enum History {
    /// In a file, read while it is judged.
    File(HistoryFile),
    /// In memory.
    Events(Vec<Event>),
}

impl History {
    /// Whether a path leads to it.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        let Self::File(file) = self else { return false };
        let [one, other] = [file.path.as_path(), path].map(|path| path.canonicalize().ok());
        one.is_some() && one == other
    }
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

    /// Why the order of events of different processes proves nothing: a history without a manifest
    /// may be of clocks that were never compared.
    pub(crate) fn untimed(&self) -> Option<Permission> {
        let why = "no manifest says that one clock timed all processes";
        self.is_bare().then(|| Permission::new("no common clock", why))
    }

    /// Reads a run folder, or a bare history file.
    pub fn load(path: &Path, instead: &Instead) -> Result<Self, FormatError> {
        match path.is_dir() {
            true => Self::load_folder(path, instead).map(|evidence| evidence.given(instead)),
            false => Self::load_file(path.into(), instead),
        }
    }

    /// A history that stands in no run folder; it is read while it is judged.
    pub fn load_file(history: HistoryFile, instead: &Instead) -> Result<Self, FormatError> {
        let mut evidence = Self { history: History::File(history), ..Self::default() };
        if let Some(manifest) = &instead.manifest {
            evidence.manifest = Some(Manifest::read(manifest)?);
        }
        evidence.load_dumps(instead.dumps.as_deref())?;
        Ok(evidence.given(instead))
    }

    /// Notes what the user gave.
    fn given(mut self, instead: &Instead) -> Self {
        for (what, given) in [("manifest", &instead.manifest), ("dumps", &instead.dumps)] {
            let note = |file: &PathBuf| format!("{what} as given by the user: {}", file.display());
            self.notes.extend(given.as_ref().map(note));
        }
        self
    }

    fn load_folder(path: &Path, instead: &Instead) -> Result<Self, FormatError> {
        let folder = RunFolder::new(path);
        let history = folder.history_path();
        if !history.exists() {
            let why = "no history.jsonl in this folder, nor history.hwh; give a run folder or a \
                       history file";
            return Err(FormatError::document(path, why));
        }
        check_files(&folder)?;
        let manifest = instead.manifest.clone().unwrap_or_else(|| folder.manifest_path());
        let mut evidence = Self {
            manifest: if manifest.exists() || instead.manifest.is_some() {
                Some(Manifest::read(&manifest)?)
            } else {
                None
            },
            history: History::File((&history).into()),
            outcome: folder.outcome()?,
            ..Self::default()
        };
        if evidence.outcome.is_none() && folder.outcome_path().exists() {
            let why = "outcome.json ends before its time: the run was cut short";
            evidence.notes.push(why.to_owned());
            evidence.incomplete.push("outcome.json".to_owned());
        }
        evidence.count_history(&folder)?;
        let samples = folder.samples()?;
        evidence.samples = evidence.take(&folder.samples_path(), samples);
        let (metadata, before) = (folder.metadata()?, evidence.incomplete.len());
        evidence.metadata = evidence.take(&folder.metadata_path(), metadata);
        evidence.metadata_is_cut = evidence.incomplete.len() > before;
        let dumps = folder.dumps_path();
        let beside = dumps.is_dir().then_some(dumps);
        evidence.load_dumps(instead.dumps.as_deref().or(beside.as_deref()))?;
        if evidence.is_bare() && evidence.outcome.is_some() {
            evidence.incomplete.push("manifest.json (it is not there)".to_owned());
        }
        evidence.note_what_is_gone(&folder);
        if instead.dumps.is_none() {
            evidence.compare_with_written();
        }
        Ok(evidence)
    }

    /// Whether nobody can have evidence of a kind, since the target gives none.
    pub fn cannot_have(&self, kind: Kind) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| !manifest.target.gives(kind))
    }

    /// Files of a complete run that are not there any more: a run that counted its events wrote its
    /// metadata log, and of every replica of a recovered cluster a final dump, where the target
    /// gives them.
    fn note_what_is_gone(&mut self, folder: &RunFolder) {
        let whole =
            |outcome: &&Outcome| outcome.ended == Ended::Complete && outcome.events.is_some();
        let Some(outcome) = self.outcome.as_ref().filter(whole) else { return };
        let mut gone = Vec::new();
        if !folder.metadata_path().exists() && !self.cannot_have(Kind::Metadata) {
            gone.push("metadata.jsonl (it is not there)".to_owned());
            self.metadata_is_cut = true;
        }
        let headers = self.dumps.iter().map(|(_, dump)| &dump.header);
        let finals: BTreeSet<_> = headers
            .filter(|header| header.moment == Moment::Final && is_from_the_start(header))
            .map(|header| (header.key.clone(), header.node))
            .collect();
        let recovered = outcome.recovery.as_ref().is_some_and(|recovery| recovery.recovered);
        if recovered && !self.cannot_have(Kind::Dumps) {
            for (key, partition) in &outcome.partitions {
                let missing = partition
                    .replicas
                    .iter()
                    .filter(|node| !finals.contains(&(key.clone(), **node)));
                gone.extend(missing.map(|node| format!("no final dump of {key} on node {node}")));
            }
        }
        if !folder.samples_path().exists() {
            self.notes
                .push("no samples.jsonl: nobody asked the replicas, or it is gone".to_owned());
        }
        let silent = |sample: &Sample| matches!(sample.said, Said::Silent { .. });
        if !self.samples.is_empty() && self.samples.iter().all(silent) {
            gone.push("samples.jsonl (no question in it was answered)".to_owned());
        }
        self.incomplete.extend(gone);
    }

    /// Compares what there is with what the run says that it wrote. Of a metadata log that was
    /// shortened nothing is believed: nobody knows what is missing where.
    fn compare_with_written(&mut self) {
        let written = self.outcome.as_ref().and_then(|outcome| outcome.written);
        let Some(Written { samples, metadata, dumps }) = written else { return };
        if self.is_short("metadata.jsonl", self.metadata.len(), (metadata, "records")) {
            self.metadata.clear();
            self.metadata_is_cut = true;
        }
        self.is_short("samples.jsonl", self.samples.len(), (samples, "samples"));
        self.lacks_dumps |= self.is_short("dumps", self.dumps.len(), (dumps, "files"));
    }

    /// Whether something has another length than was told; it is noted unless it was already.
    fn is_short(&mut self, name: &str, found: usize, (told, what): (u64, &str)) -> bool {
        let is_short = found as u64 != told;
        if is_short && !self.incomplete.iter().any(|known| known.starts_with(name)) {
            self.incomplete.push(format!("{name} ({found} of {told} {what})"));
        }
        is_short
    }

    /// Compares the history's length with what the outcome says: a history that was cut at a line's
    /// end looks whole by itself.
    fn count_history(&mut self, folder: &RunFolder) -> Result<(), FormatError> {
        let Some(told) = self.outcome.as_ref().and_then(|outcome| outcome.events) else {
            return Ok(());
        };
        let found = folder.count_events()?;
        if found != told {
            let path = folder.history_path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let events = if found == 1 { "event" } else { "events" };
            self.notes.push(format!("{name} has {found} {events}, outcome.json tells of {told}"));
            self.incomplete.push(format!("{name} ({found} of {told} events)"));
            self.history =
                History::File(HistoryFile { is_cut: found < told, ..HistoryFile::from(&path) });
        }
        Ok(())
    }

    /// The lines of a file; one that ends too early is noted.
    fn take<L: Line>(&mut self, file: &Path, lines: Option<Lines<L>>) -> Vec<L> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match lines {
            Some(Lines { lines, dropped: None, .. }) => lines,
            Some(Lines { lines, dropped: Some(_), .. }) => {
                self.notes.push(format!("{name}: the last line is incomplete and was dropped"));
                self.incomplete.push(name);
                lines
            }
            None => {
                if file.exists() {
                    self.notes.push(format!("{name}: the file ends before its header"));
                    self.incomplete.push(name);
                }
                Vec::new()
            }
        }
    }

    fn load_dumps(&mut self, folder: Option<&Path>) -> Result<(), FormatError> {
        let Some(folder) = folder else { return Ok(()) };
        let DumpFolder { dumps, incomplete } = DumpFolder::read(folder)?;
        for (name, dump) in &dumps {
            self.fits_manifest(&folder.join(name), &dump.header)?;
        }
        self.dumps = dumps;
        self.lacks_dumps = !incomplete.is_empty();
        for name in incomplete {
            let name = name.display();
            let why = "nobody completed it, or it refers to one that is not there; it was left out";
            self.notes.push(format!("dump {name}: {why}"));
            self.incomplete.push(format!("dump {name}"));
        }
        Ok(())
    }

    /// Refuses a dump of a node or topic that the manifest does not know.
    fn fits_manifest(&self, file: &Path, header: &DumpHeader) -> Result<(), FormatError> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let (node, topic) = (header.node, &header.topic);
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

/// Refuses what is no file where a run has one: a pipe would be waited for, and be read only once.
fn check_files(folder: &RunFolder) -> Result<(), FormatError> {
    let files = [
        folder.manifest_path(),
        folder.history_path(),
        folder.samples_path(),
        folder.metadata_path(),
        folder.outcome_path(),
    ];
    match files.iter().find(|file| file.exists() && !file.is_file()) {
        Some(file) => Err(FormatError::document(file, "it is no regular file, as a run's are")),
        None => Ok(()),
    }
}

/// A final dump speaks of the whole log.
fn is_from_the_start(header: &DumpHeader) -> bool {
    header.log_start.is_none_or(|start| header.from <= start)
}

#[cfg(test)]
mod tests {
    use highwater_history::outcome::{Ended, Outcome, Written};

    use super::Evidence;

    #[test]
    fn dumps_that_were_written_and_are_not_there_are_lacking() {
        let mut evidence = Evidence::default();
        let mut outcome = Outcome::new(Ended::Complete, 0);
        outcome.written = Some(Written { samples: 0, metadata: 0, dumps: 0 });
        evidence.outcome = Some(outcome);
        evidence.compare_with_written();
        assert!(!evidence.lacks_dumps, "nothing was written");
        let told = evidence.outcome.as_mut().and_then(|outcome| outcome.written.as_mut());
        told.expect("it was told").dumps = 1;
        evidence.compare_with_written();
        assert!(evidence.lacks_dumps);
        assert_eq!(evidence.incomplete, ["dumps (0 of 1 files)"]);
    }
}
