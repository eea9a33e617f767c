//! The files and folders of a node's log directories, by inode.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use super::{DiskError, inode::Inode, journal::Name};

/// What has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A file of so many bytes.
    File(u64),
    /// A folder and its entries.
    Folder(BTreeMap<OsString, Inode>),
}

/// Log directories and all that is below them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// The log directories.
    pub roots: Vec<(PathBuf, Inode)>,
    /// Every file and folder.
    pub items: BTreeMap<Inode, Item>,
}

impl Tree {
    /// Lists the folders.
    ///
    /// # Errors
    /// When one cannot be listed.
    pub(super) fn read(roots: &[PathBuf]) -> Result<Tree, DiskError> {
        let mut tree = Tree::default();
        for root in roots {
            let inode = tree.add(root).map_err(DiskError::at(root))?;
            tree.roots.extend(inode.map(|inode| (root.clone(), inode)));
        }
        Ok(tree)
    }

    /// Adds what is at the path; neither links nor pipes belong to a log.
    fn add(&mut self, path: &Path) -> io::Result<Option<Inode>> {
        let metadata = fs::symlink_metadata(path)?;
        let inode = Inode::of(&metadata);
        let item = if metadata.is_dir() {
            let mut entries = BTreeMap::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let child = self.add(&entry.path())?;
                entries.extend(child.map(|child| (entry.file_name(), child)));
            }
            Item::Folder(entries)
        } else if metadata.is_file() {
            Item::File(metadata.len())
        } else {
            return Ok(None);
        };
        self.items.insert(inode, item);
        Ok(Some(inode))
    }

    /// What has this name.
    pub(super) fn at(&self, name: &Name) -> Option<Inode> {
        match self.items.get(&name.folder) {
            Some(Item::Folder(entries)) => entries.get(&name.name).copied(),
            _ => None,
        }
    }

    /// The entries of a folder that is there.
    pub(super) fn entries(&mut self, folder: Inode) -> Option<&mut BTreeMap<OsString, Inode>> {
        match self.items.get_mut(&folder) {
            Some(Item::Folder(entries)) => Some(entries),
            _ => None,
        }
    }

    /// The length of a file.
    pub(super) fn size(&self, inode: Inode) -> Option<u64> {
        match self.items.get(&inode) {
            Some(Item::File(size)) => Some(*size),
            _ => None,
        }
    }

    /// The path of every folder, the log directories too.
    pub(super) fn folders(&self) -> BTreeMap<Inode, PathBuf> {
        let mut found: BTreeMap<Inode, PathBuf> = BTreeMap::new();
        let mut open: Vec<(PathBuf, Inode)> = self.roots.clone();
        while let Some((path, inode)) = open.pop() {
            if let Some(Item::Folder(entries)) = self.items.get(&inode) {
                open.extend(entries.iter().map(|(name, child)| (path.join(name), *child)));
                found.insert(inode, path);
            }
        }
        found
    }

    /// The path of every file name and the file that has it.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, (Inode, u64)> {
        let mut found = BTreeMap::new();
        for (folder, path) in self.folders() {
            let Some(Item::Folder(entries)) = self.items.get(&folder) else { continue };
            for (name, child) in entries {
                let size = self.size(*child);
                found.extend(size.map(|size| (path.join(name), (*child, size))));
            }
        }
        found
    }

    /// The path relative to the log directory that it is in.
    pub(super) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        let inside = self.roots.iter().find_map(|(root, _)| path.strip_prefix(root).ok());
        inside.unwrap_or(path)
    }
}
