//! A file system in memory whose processes are journalled as the shim does it.

use std::{collections::BTreeMap, path::PathBuf};

use super::super::{
    durable::Durable,
    inode::Inode,
    journal::{Move, Name, Record},
    power::{Act, PowerLoss, Survives, lose},
    tree::{Item, Tree},
};

const ROOT: Inode = Inode { device: 1, number: 1 };

/// Paths are relative, with one slash at most: `f` or `d/f`.
pub struct World {
    pub tree: Tree,
    records: Vec<Record>,
    kept: BTreeMap<Inode, u64>,
    next: u64,
}

impl World {
    pub fn new() -> World {
        let mut tree = Tree { roots: vec![("/r".into(), ROOT)], ..Tree::default() };
        tree.items.insert(ROOT, Item::Folder(BTreeMap::new()));
        World { tree, records: Vec::new(), kept: BTreeMap::new(), next: 2 }
    }

    fn name(&self, path: &str) -> Option<Name> {
        let (folder, name) = match path.split_once('/') {
            Some((folder, name)) => (self.find(folder)?, name),
            None => (ROOT, path),
        };
        self.tree.items.contains_key(&folder).then(|| Name { folder, name: name.into() })
    }

    pub fn find(&self, path: &str) -> Option<Inode> {
        self.tree.at(&self.name(path)?)
    }

    fn add(&mut self, path: &str, item: Item) {
        let Some(name) = self.name(path).filter(|name| self.tree.at(name).is_none()) else {
            return;
        };
        let inode = Inode { number: self.next, ..ROOT };
        self.next += 1;
        let Some(entries) = self.tree.entries(name.folder) else { return };
        entries.insert(name.name.clone(), inode);
        self.tree.items.insert(inode, item);
        self.records.push(Record::Created(inode, name));
    }

    pub fn folder(&mut self, path: &str) {
        self.add(path, Item::Folder(BTreeMap::new()));
    }

    /// Appends, to a new file if there is none.
    pub fn append(&mut self, path: &str, bytes: u64) {
        self.add(path, Item::File(0));
        if let Some(inode) = self.find(path)
            && let Some(size) = self.tree.size(inode)
        {
            self.tree.items.insert(inode, Item::File(size + bytes));
        }
    }

    pub fn sync(&mut self, path: &str) {
        let Some(inode) = self.find(path) else { return };
        self.records.push(match self.tree.size(inode) {
            Some(size) => Record::Synced(inode, size),
            None => Record::Folder(inode),
        });
    }

    pub fn sync_root(&mut self) {
        self.records.push(Record::Folder(ROOT));
    }

    pub fn truncate(&mut self, path: &str, to: u64) {
        let Some(inode) = self.find(path) else { return };
        if self.tree.size(inode).is_some_and(|size| to < size) {
            self.records.push(Record::Truncated(inode, to));
            self.tree.items.insert(inode, Item::File(to));
        }
    }

    pub fn map(&mut self, path: &str) {
        let inode = self.find(path).unwrap();
        self.records.push(Record::Mapped(inode));
    }

    pub fn remove(&mut self, path: &str) {
        let (Some(name), Some(inode)) = (self.name(path), self.find(path)) else { return };
        if self.tree.size(inode).is_some() {
            self.records.push(Record::Unlinked(inode, name.clone()));
            self.tree.entries(name.folder).unwrap().remove(&name.name);
        }
    }

    /// Renames a file or a folder; a file may replace another.
    pub fn rename(&mut self, from: &str, to: &str) {
        let (Some(old), Some(new), Some(inode)) = (self.name(from), self.name(to), self.find(from))
        else {
            return;
        };
        let replaced = self.tree.at(&new);
        let is_file = |inode: Inode| self.tree.size(inode).is_some();
        let into_itself = new.folder == inode || replaced == Some(inode);
        if into_itself || replaced.is_some_and(|r| !is_file(r) || !is_file(inode)) {
            return;
        }
        if let Some(replaced) = replaced {
            self.kept.insert(replaced, self.tree.size(replaced).unwrap());
        }
        self.tree.entries(old.folder).unwrap().remove(&old.name);
        self.tree.entries(new.folder).unwrap().insert(new.name.clone(), inode);
        self.records.push(Record::Renamed(inode, Move { from: old, to: new, replaced }));
    }

    pub fn durable(&self) -> Durable {
        Durable::follow(self.records.clone())
    }

    pub fn lose(&self, survives: Survives, seed: u64) -> PowerLoss {
        lose(&self.durable(), &self.tree, &self.kept, survives, seed)
    }

    /// The files before a loss, or after it: by path, which file and how long.
    pub fn files(&self, loss: Option<&PowerLoss>) -> BTreeMap<String, (Inode, u64)> {
        let mut files = self.tree.files();
        for act in loss.iter().flat_map(|loss| &loss.acts) {
            match act {
                Act::Remove(path) => files.retain(|file, _| !file.starts_with(path)),
                Act::Rename(from, to) => {
                    let moved = |path: PathBuf| match path.strip_prefix(from) {
                        Ok(rest) if rest.as_os_str().is_empty() => to.clone(),
                        Ok(rest) => to.join(rest),
                        Err(_) => path,
                    };
                    files = files.into_iter().map(|(path, file)| (moved(path), file)).collect();
                }
                Act::Restore(number, path) => {
                    let inode = Inode { number: *number, ..ROOT };
                    files.insert(path.clone(), (inode, self.kept[&inode]));
                }
                Act::Cut(path, size) => files.get_mut(path).unwrap().1 = *size,
            }
        }
        let short = |path: PathBuf| path.strip_prefix("/r").unwrap().display().to_string();
        files.into_iter().map(|(path, file)| (short(path), file)).collect()
    }

    /// The lengths of the files that a loss leaves.
    pub fn left(&self, survives: Survives, seed: u64) -> BTreeMap<String, u64> {
        let loss = self.lose(survives, seed);
        self.files(Some(&loss)).into_iter().map(|(path, (_, size))| (path, size)).collect()
    }
}
