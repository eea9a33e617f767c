//! What is durable after all that a journal tells.
//!
//! A sync makes the file's own name durable too, with the folders on the way to it, as journalling
//! file systems do. A truncation and a removal count as durable at once.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    inode::Inode,
    journal::{Move, Name, Record},
};

/// A change of names that a power loss may undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pending {
    /// What has the name.
    pub inode: Inode,
    /// The name that it has by this.
    pub at: Name,
    /// How it came by it.
    pub how: How,
}

/// How a name came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    /// By itself or beside another.
    Made,
    /// Instead of another.
    Moved {
        /// The name it had.
        from: Name,
        /// What had the new name.
        replaced: Option<Inode>,
    },
}

/// What a disk holds for certain.
#[derive(Debug, Default)]
pub(super) struct Durable {
    /// How many bytes of each file; one that is not here is not known.
    pub synced: BTreeMap<Inode, u64>,
    /// Files whose writes are not seen.
    pub mapped: BTreeSet<Inode>,
    /// Changes of names that are not durable, in the order in which they were made.
    pub pending: Vec<Pending>,
    /// In which folder each file or folder was last given a name.
    folders: BTreeMap<Inode, Inode>,
}

impl Durable {
    /// Follows a journal from its beginning.
    pub(super) fn follow(records: impl IntoIterator<Item = Record>) -> Durable {
        let mut durable = Durable::default();
        for record in records {
            durable.take(record);
        }
        durable
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Process => {}
            Record::Synced(inode, size) => {
                // Two syncs at a time may be told in the other order.
                let synced = self.synced.entry(inode).or_default();
                *synced = size.max(*synced);
                self.settle(inode);
            }
            Record::Folder(folder) => {
                self.pending.retain(|pending| !pending.is_in(folder));
                self.settle(folder);
            }
            Record::Truncated(inode, size) => {
                self.synced.entry(inode).and_modify(|synced| *synced = size.min(*synced));
            }
            Record::Created(inode, name) => {
                self.forget(inode);
                self.synced.insert(inode, 0);
                self.await_sync(inode, name, How::Made);
            }
            Record::Linked(inode, name) => self.await_sync(inode, name, How::Made),
            Record::Renamed(inode, Move { from, to, replaced }) => {
                self.await_sync(inode, to, How::Moved { from, replaced });
            }
            Record::Unlinked(inode, name) => {
                self.pending.retain(|pending| pending.inode != inode || pending.at != name);
            }
            Record::Mapped(inode) => {
                self.mapped.insert(inode);
            }
        }
    }

    fn await_sync(&mut self, inode: Inode, at: Name, how: How) {
        self.folders.insert(inode, at.folder);
        self.pending.push(Pending { inode, at, how });
    }

    /// An inode's number begins anew: nothing of the file that had it counts.
    fn forget(&mut self, inode: Inode) {
        self.mapped.remove(&inode);
        self.pending.retain(|pending| pending.inode != inode && pending.at.folder != inode);
    }

    /// Makes the names of a file or folder durable, and those of the folders above it.
    fn settle(&mut self, inode: Inode) {
        let mut next = Some(inode);
        while let Some(inode) = next.filter(|_| !self.pending.is_empty()) {
            self.pending.retain(|pending| pending.inode != inode);
            next = self.folders.get(&inode).copied().filter(|folder| *folder != inode);
        }
    }
}

impl Pending {
    /// Whether a sync of the folder makes it durable.
    fn is_in(&self, folder: Inode) -> bool {
        let came_from = match &self.how {
            How::Made => None,
            How::Moved { from, .. } => Some(from.folder),
        };
        self.at.folder == folder || came_from == Some(folder)
    }
}
