//! A disk in memory that keeps what was synced apart from what was not.
//!
//! It is deterministic. After [`MemDisk::lose_power`] only synced bytes and synced directory
//! entries are left, and as much of each unsynced suffix as the caller wants.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Disk, DiskError, DiskErrorKind, Entry, OpenMode, Volume};

/// The number of the root directory's inode.
const ROOT: u64 = 0;

/// An in-memory disk; a clone is an independent copy.
#[derive(Clone, Debug)]
pub struct MemDisk {
    inodes: BTreeMap<u64, Inode>,
    next: u64,
}

/// An open file of a [`MemDisk`]; stays valid after a rename or removal.
#[derive(Clone, Debug)]
pub struct MemFile {
    inode: u64,
    path: String,
}

#[derive(Clone, Debug)]
enum Inode {
    File(Content),
    Dir(Names),
}

/// A directory's entries: as processes see them, and as a power loss leaves them.
#[derive(Clone, Debug, Default)]
struct Names {
    current: BTreeMap<String, u64>,
    durable: BTreeMap<String, u64>,
}

/// A file's bytes. What a power loss leaves is `data[..synced]` followed by `cut`.
#[derive(Clone, Debug, Default)]
struct Content {
    data: Vec<u8>,
    /// How many bytes of `data` are also durable at the same place.
    synced: usize,
    /// Durable bytes that a truncation, itself not yet durable, has removed.
    cut: Vec<u8>,
}

impl Content {
    fn truncate(&mut self, length: usize) {
        if length < self.synced {
            let mut cut = self.data[length..self.synced].to_vec();
            cut.append(&mut self.cut);
            self.cut = cut;
            self.synced = length;
        }
        self.data.truncate(length);
    }

    fn sync(&mut self) {
        self.synced = self.data.len();
        self.cut.clear();
    }

    fn lose_power(&mut self, kept: usize) {
        if kept == 0 {
            self.data.truncate(self.synced);
            self.data.append(&mut self.cut);
        } else {
            self.data.truncate(self.synced + kept);
        }
        self.sync();
    }
}

impl Default for MemDisk {
    fn default() -> MemDisk {
        MemDisk::new()
    }
}

impl MemDisk {
    /// An empty directory.
    pub fn new() -> MemDisk {
        MemDisk { inodes: BTreeMap::from([(ROOT, Inode::Dir(Names::default()))]), next: ROOT + 1 }
    }

    /// Loses power: directories fall back to their synced entries, files to their synced bytes.
    /// `keep(unsynced)` says for each file, in a fixed order, how many bytes of its unsynced suffix
    /// (at most `unsynced`) reached the disk nevertheless.
    pub fn lose_power(&mut self, mut keep: impl FnMut(usize) -> usize) {
        for inode in self.inodes.values_mut() {
            match inode {
                Inode::Dir(names) => names.current = names.durable.clone(),
                Inode::File(content) => {
                    let unsynced = content.data.len() - content.synced;
                    content.lose_power(keep(unsynced).min(unsynced));
                }
            }
        }
        self.drop_unreachable();
    }

    /// All bytes of a file; none if it does not exist.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        match self.inodes.get(&self.find(path)?) {
            Some(Inode::File(content)) => Some(&content.data),
            _ => None,
        }
    }

    /// Replaces a file's content, durably; creates it and its directories. For tests that damage
    /// files or plant foreign ones.
    pub fn plant(&mut self, path: &str, bytes: &[u8]) {
        let (parent, name) = split(path);
        let parent = self.plant_dir(parent);
        let mut content = Content { data: bytes.to_vec(), ..Content::default() };
        content.sync();
        let inode = self.add(Inode::File(content));
        let names = self.names(parent).expect("plant_dir gave a directory");
        names.current.insert(name.to_owned(), inode);
        names.durable.insert(name.to_owned(), inode);
    }

    fn plant_dir(&mut self, path: &str) -> u64 {
        let mut at = ROOT;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let known = self.names(at).and_then(|names| names.current.get(part).copied());
            at = known.unwrap_or_else(|| {
                let inode = self.add(Inode::Dir(Names::default()));
                let names = self.names(at).expect("a directory was found or added");
                names.current.insert(part.to_owned(), inode);
                names.durable.insert(part.to_owned(), inode);
                inode
            });
        }
        at
    }

    fn add(&mut self, inode: Inode) -> u64 {
        let number = self.next;
        self.next += 1;
        self.inodes.insert(number, inode);
        number
    }

    fn find(&self, path: &str) -> Option<u64> {
        let mut at = ROOT;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let Some(Inode::Dir(names)) = self.inodes.get(&at) else { return None };
            at = *names.current.get(part)?;
        }
        Some(at)
    }

    fn names(&mut self, inode: u64) -> Option<&mut Names> {
        match self.inodes.get_mut(&inode) {
            Some(Inode::Dir(names)) => Some(names),
            _ => None,
        }
    }

    /// The entries of the directory that holds `path`.
    fn parent(&mut self, path: &str, action: &'static str) -> Result<&mut Names, DiskError> {
        let missing = || not_found(action, path);
        let inode = self.find(split(path).0).ok_or_else(missing)?;
        self.names(inode).ok_or_else(missing)
    }

    fn file(&mut self, file: &MemFile) -> &mut Content {
        match self.inodes.get_mut(&file.inode) {
            Some(Inode::File(content)) => content,
            _ => panic!("{} was opened before power was lost and used after", file.path),
        }
    }

    fn drop_unreachable(&mut self) {
        let mut reached = Vec::from([ROOT]);
        let mut next = 0;
        while let Some(inode) = reached.get(next) {
            if let Some(Inode::Dir(names)) = self.inodes.get(inode) {
                let children: Vec<u64> = names.current.values().copied().collect();
                reached.extend(children);
            }
            next += 1;
        }
        self.inodes.retain(|inode, _| reached.contains(inode));
    }
}

impl Disk for MemDisk {
    type File = MemFile;

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<MemFile, DiskError> {
        let name = split(path).1;
        let known = self.parent(path, "open")?.current.get(name).copied();
        let inode = match known {
            Some(inode) => inode,
            None if mode == OpenMode::Existing => return Err(not_found("open", path)),
            None => {
                let inode = self.add(Inode::File(Content::default()));
                self.parent(path, "open")?.current.insert(name.to_owned(), inode);
                inode
            }
        };
        let file = MemFile { inode, path: path.to_owned() };
        if mode == OpenMode::Empty {
            self.file(&file).truncate(0);
        }
        Ok(file)
    }

    fn append(&mut self, file: &MemFile, bytes: &[u8]) -> Result<(), DiskError> {
        self.file(file).data.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, file: &MemFile, at: u64, length: usize) -> Result<Bytes, DiskError> {
        let data = &self.file(file).data;
        let start = data.len().min(at as usize);
        let end = data.len().min(start.saturating_add(length));
        Ok(Bytes::copy_from_slice(&data[start..end]))
    }

    fn length(&mut self, file: &MemFile) -> Result<u64, DiskError> {
        Ok(self.file(file).data.len() as u64)
    }

    fn truncate(&mut self, file: &MemFile, length: u64) -> Result<(), DiskError> {
        debug_assert!(length <= self.file(file).data.len() as u64, "truncation never extends");
        self.file(file).truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self, file: &MemFile) -> Result<(), DiskError> {
        self.file(file).sync();
        Ok(())
    }

    fn create_dir(&mut self, path: &str) -> Result<(), DiskError> {
        if self.find(path).is_none() {
            let inode = self.add(Inode::Dir(Names::default()));
            self.parent(path, "create")?.current.insert(split(path).1.to_owned(), inode);
        }
        Ok(())
    }

    fn sync_dir(&mut self, path: &str) -> Result<(), DiskError> {
        let inode = self.find(path).ok_or_else(|| not_found("sync", path))?;
        let names = self.names(inode).ok_or_else(|| not_found("sync", path))?;
        names.durable = names.current.clone();
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let removed = self.parent(from, "rename")?.current.remove(split(from).1);
        let inode = removed.ok_or_else(|| not_found("rename", from))?;
        self.parent(to, "rename")?.current.insert(split(to).1.to_owned(), inode);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), DiskError> {
        self.parent(path, "remove")?.current.remove(split(path).1);
        Ok(())
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), DiskError> {
        self.remove(path)
    }

    fn list(&mut self, path: &str) -> Result<Vec<Entry>, DiskError> {
        let inode = self.find(path).ok_or_else(|| not_found("list", path))?;
        let Some(Inode::Dir(names)) = self.inodes.get(&inode) else {
            return Err(not_found("list", path));
        };
        let is_dir = |inode: &u64| matches!(self.inodes.get(inode), Some(Inode::Dir(_)));
        let entry =
            |(name, inode): (&String, &u64)| Entry { name: name.clone(), is_dir: is_dir(inode) };
        Ok(names.current.iter().map(entry).collect())
    }

    fn volume(&mut self) -> Option<Volume> {
        None
    }
}

/// A path's directory and its last part.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn not_found(action: &'static str, path: &str) -> DiskError {
    DiskError {
        kind: DiskErrorKind::NotFound,
        action,
        path: path.to_owned(),
        reason: "no such file or directory".to_owned(),
    }
}
