//! One node's disk: its log directories, the shim's files beside them, and a loss of power.

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    DiskError, Survives,
    acts::carry_out,
    control::Control,
    durable::Durable,
    journal::{baseline, read},
    layout::{CONTROL_VARIABLE, JOURNAL_VARIABLE, KEPT_VARIABLE, ROOTS_VARIABLE},
    power::lose,
    tree::Tree,
};
use crate::cluster::NodePlan;

/// In the node's folder: what is the shim's.
const FOLDER: &str = "disk";
/// The unit in which the system says how much room a file takes.
const BLOCK: u64 = 512;

/// The disk of one node.
#[derive(Debug)]
pub(super) struct NodeDisk {
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

impl NodeDisk {
    pub(super) fn of(node: &NodePlan, roots: Vec<PathBuf>) -> NodeDisk {
        NodeDisk { folder: node.folder.join(FOLDER), roots }
    }

    pub(super) fn control(&self) -> Control {
        Control::at(&self.folder.join("control"))
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("journal")
    }

    fn kept(&self) -> PathBuf {
        self.folder.join("kept")
    }

    /// What the node's process is told.
    pub(super) fn environment(&self, library: &Path) -> Vec<(String, String)> {
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        // Another library may be preloaded already: it comes behind.
        let before = env::var("LD_PRELOAD").ok().filter(|before| !before.is_empty());
        let library = library.display().to_string();
        let preload = [Some(library), before].into_iter().flatten().collect::<Vec<_>>().join(":");
        let path = |path: &Path| path.display().to_string();
        [
            ("LD_PRELOAD", preload),
            (ROOTS_VARIABLE, roots.join(":")),
            (JOURNAL_VARIABLE, path(&self.journal())),
            (KEPT_VARIABLE, path(&self.kept())),
            (CONTROL_VARIABLE, path(self.control().path())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Begins the journal: what is there now counts as durable.
    pub(super) fn begin(&self) -> Result<(), DiskError> {
        let kept = self.kept();
        empty(&kept).map_err(DiskError::at(&kept))?;
        let control = self.control();
        if !control.path().exists() {
            control.reset().map_err(DiskError::at(control.path()))?;
        }
        let files = Tree::read(&self.roots)?.files();
        let journal = self.journal();
        fs::write(&journal, baseline(files.into_values())).map_err(DiskError::at(&journal))
    }

    /// Takes away what is not durable; nothing of the node may run.
    pub(super) fn lose_power(&self, survives: Survives, seed: u64) -> Result<Loss, DiskError> {
        let durable = Durable::follow(read(&self.journal())?);
        let tree = Tree::read(&self.roots)?;
        let kept = Tree::read(&[self.kept()])?.files().into_values();
        let lost = lose(&durable, &tree, &kept.collect(), survives, seed);
        carry_out(&lost.acts, &self.kept())?;
        self.begin()?;
        Ok(Loss::of(&tree, &lost.lost))
    }

    /// Takes everything away, but for the log directories themselves.
    pub(super) fn wipe(&self) -> Result<Loss, DiskError> {
        let tree = Tree::read(&self.roots)?;
        let mut all = BTreeMap::new();
        for (path, (_, size)) in tree.files() {
            let file = fs::symlink_metadata(&path).map_err(DiskError::at(&path))?;
            // Much of a broker's index is room that it has not written to.
            all.insert(path, size.min(file.blocks() * BLOCK));
        }
        for root in &self.roots {
            empty(root).map_err(DiskError::at(root))?;
        }
        Ok(Loss::of(&tree, &all))
    }
}

/// Makes a folder that is empty.
fn empty(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The bytes that a node lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Of each partition that it had, also those that lost none: by the name of its folder.
    pub partitions: BTreeMap<String, u64>,
    /// Of everything, also what belongs to no partition.
    pub bytes: u64,
    /// Files that lost some.
    pub files: usize,
}

impl Loss {
    fn of(before: &Tree, lost: &BTreeMap<PathBuf, u64>) -> Loss {
        let mut loss = Loss { bytes: lost.values().sum(), files: lost.len(), ..Loss::default() };
        for path in before.files().keys() {
            let mut parts = before.relative(path).components();
            let (Some(first), Some(_)) = (parts.next(), parts.next()) else { continue };
            let name = first.as_os_str().to_string_lossy();
            if name.parse::<crate::nemesis::Partition>().is_ok() {
                let bytes = lost.get(path).copied().unwrap_or_default();
                *loss.partitions.entry(name.into_owned()).or_default() += bytes;
            }
        }
        loss
    }
}
