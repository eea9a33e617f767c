//! What a power loss leaves of a disk: a function of what was durable, what is there, and a seed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use highwater_workloads::random::stream;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{
    durable::{Durable, How, Pending},
    inode::Inode,
    journal::Name,
    tree::{Item, Tree},
};

/// What survives of that which was not durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Survives {
    /// Nothing.
    Nothing,
    /// For each file and each folder the seed decides: nothing, all, or a part from the beginning.
    #[default]
    Drawn,
}

/// One step that brings a disk to what the power loss leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// A name goes, with all that is below it.
    Remove(PathBuf),
    /// A name becomes what it was.
    Rename(PathBuf, PathBuf),
    /// What was replaced has its name again; it is kept by the number of its inode.
    Restore(u64, PathBuf),
    /// A file ends there.
    Cut(PathBuf, u64),
}

/// What a power loss does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PowerLoss {
    /// The steps, in order.
    pub acts: Vec<Act>,
    /// The bytes that each file loses, by the path that it had.
    pub lost: BTreeMap<PathBuf, u64>,
}

/// Decides what goes. `kept` are the files that lost their names to others, with their lengths.
pub(super) fn lose(
    durable: &Durable,
    tree: &Tree,
    kept: &BTreeMap<Inode, u64>,
    survives: Survives,
    seed: u64,
) -> PowerLoss {
    let mut disk =
        Disk { tree: tree.clone(), kept: kept.clone(), acts: Vec::new(), survives, seed };
    for pending in disk.undone(&durable.pending) {
        disk.undo(&pending);
    }
    disk.cut_files(durable);
    let lost = disk.lost(tree, &durable.mapped);
    PowerLoss { acts: disk.acts, lost }
}

struct Disk {
    tree: Tree,
    kept: BTreeMap<Inode, u64>,
    acts: Vec<Act>,
    survives: Survives,
    seed: u64,
}

impl Disk {
    /// How many of `count` in a row survive.
    fn drawn(&self, what: &str, count: u64) -> u64 {
        if self.survives == Survives::Nothing || count == 0 {
            return 0;
        }
        let mut rng = stream(self.seed, what);
        match rng.random_range(0..3) {
            0 => 0,
            1 => count,
            _ => rng.random_range(0..=count),
        }
    }

    /// The changes of names that are undone, the last one first: in each folder the first few
    /// survive.
    fn undone(&self, pending: &[Pending]) -> Vec<Pending> {
        let paths = self.tree.folders();
        let mut of_folder: BTreeMap<Inode, u64> = BTreeMap::new();
        for change in pending {
            *of_folder.entry(change.at.folder).or_default() += 1;
        }
        let mut surviving: BTreeMap<Inode, u64> = of_folder
            .into_iter()
            .filter_map(|(folder, count)| {
                let path = self.tree.relative(paths.get(&folder)?).display();
                Some((folder, self.drawn(&format!("names/{path}"), count)))
            })
            .collect();
        let is_undone = |change: &&Pending| match surviving.get_mut(&change.at.folder) {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            // The folder itself is gone.
            None => false,
        };
        let mut undone: Vec<Pending> = pending.iter().filter(is_undone).cloned().collect();
        undone.reverse();
        undone
    }

    /// Undoes a change as far as it is still to be seen.
    fn undo(&mut self, pending: &Pending) {
        let Pending { inode, at, how } = pending;
        let (Some(path), true) = (self.path(at), self.tree.at(at) == Some(*inode)) else { return };
        match how {
            How::Made => {
                self.tree.entries(at.folder).map(|entries| entries.remove(&at.name));
                self.acts.push(Act::Remove(path));
            }
            How::Moved { from, replaced } => self.move_back((*inode, at, path), from, *replaced),
        }
    }

    fn move_back(
        &mut self,
        (inode, at, path): (Inode, &Name, PathBuf),
        from: &Name,
        replaced: Option<Inode>,
    ) {
        let is_there = |inode: Inode| self.kept.contains_key(&inode);
        let Some(old_path) = self.path(from).filter(|_| self.tree.at(from).is_none()) else {
            return;
        };
        // Without what stood there before, nobody could have seen the old state.
        if !replaced.is_none_or(is_there) {
            return;
        }
        self.tree.entries(at.folder).map(|entries| entries.remove(&at.name));
        self.tree.entries(from.folder).map(|entries| entries.insert(from.name.clone(), inode));
        self.acts.push(Act::Rename(path.clone(), old_path));
        if let Some(old) = replaced {
            let size = self.kept.remove(&old).unwrap_or_default();
            self.tree.items.insert(old, Item::File(size));
            self.tree.entries(at.folder).map(|entries| entries.insert(at.name.clone(), old));
            self.acts.push(Act::Restore(old.number, path));
        }
    }

    /// The path of a name, if its folder can be reached.
    fn path(&self, name: &Name) -> Option<PathBuf> {
        Some(self.tree.folders().get(&name.folder)?.join(&name.name))
    }

    /// Cuts each file to its durable bytes and what survives of the rest.
    fn cut_files(&mut self, durable: &Durable) {
        for (path, (inode, size)) in self.tree.files() {
            let known = durable.synced.get(&inode).filter(|_| !durable.mapped.contains(&inode));
            let Some(synced) = known.map(|synced| size.min(*synced)) else { continue };
            let what = format!("bytes/{}", self.tree.relative(&path).display());
            let left = synced + self.drawn(&what, size - synced);
            // Of two names of a file the first decides.
            if left < size && self.tree.size(inode) == Some(size) {
                self.tree.items.insert(inode, Item::File(left));
                self.acts.push(Act::Cut(path, left));
            }
        }
    }

    /// What each file of `before` has lost; what is mapped is longer than what it holds.
    fn lost(&self, before: &Tree, mapped: &BTreeSet<Inode>) -> BTreeMap<PathBuf, u64> {
        let left: BTreeMap<Inode, u64> = self.tree.files().into_values().collect();
        let files = before.files().into_iter();
        let lost = files.filter(|(_, (inode, _))| !mapped.contains(inode)).map(|(path, file)| {
            let (inode, size) = file;
            (path, size.saturating_sub(left.get(&inode).copied().unwrap_or_default()))
        });
        lost.filter(|(_, bytes)| *bytes > 0).collect()
    }
}
