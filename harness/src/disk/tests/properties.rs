//! What was synced is never lost, and nothing appears that was not there.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{
    super::{inode::Inode, power::Survives},
    model::World,
};

#[derive(Debug, Clone)]
enum Op {
    Folder(&'static str),
    Append(&'static str, u64),
    Sync(&'static str),
    SyncRoot,
    Truncate(&'static str, u64),
    Remove(&'static str),
    Rename(&'static str, &'static str),
}

const FOLDERS: [&str; 2] = ["d", "e"];
const FILES: [&str; 6] = ["f", "g", "d/f", "d/g", "e/f", "e/g"];
const ALL: [&str; 8] = ["d", "e", "f", "g", "d/f", "d/g", "e/f", "e/g"];

fn op() -> impl Strategy<Value = Op> {
    let file = || prop::sample::select(&FILES[..]);
    prop_oneof![
        1 => prop::sample::select(&FOLDERS[..]).prop_map(Op::Folder),
        4 => (file(), 1..9u64).prop_map(|(file, bytes)| Op::Append(file, bytes)),
        3 => prop::sample::select(&ALL[..]).prop_map(Op::Sync),
        1 => Just(Op::SyncRoot),
        1 => (file(), 0..9u64).prop_map(|(file, to)| Op::Truncate(file, to)),
        1 => file().prop_map(Op::Remove),
        2 => (file(), file()).prop_map(|(from, to)| Op::Rename(from, to)),
        1 => Just(Op::Rename("d", "e")),
    ]
}

/// What must be there: told apart from the code under test, by the operations alone.
#[derive(Default)]
struct Sure {
    /// The durable bytes of each file.
    bytes: BTreeMap<Inode, u64>,
    /// Files whose present name was synced after they got it.
    named: BTreeMap<Inode, String>,
    /// Every name that a file ever had, and its greatest length.
    had: BTreeSet<(Inode, String)>,
    longest: BTreeMap<Inode, u64>,
    /// Whether a folder was renamed: what is in it may be found under both names, for the renaming
    /// and what was done inside reach the disk each for itself.
    folder_renamed: bool,
}

impl Sure {
    fn after(&mut self, world: &World, op: &Op) {
        let now = world.files(None);
        match op {
            Op::Sync(path) => {
                if let Some((inode, size)) = now.get(*path) {
                    self.bytes.insert(*inode, *size);
                    self.named.insert(*inode, (*path).to_owned());
                }
            }
            Op::Rename("d", "e") => self.folder_renamed = true,
            Op::Truncate(path, to) => {
                let file = now.get(*path);
                let sure = file.and_then(|(inode, _)| self.bytes.get_mut(inode));
                sure.into_iter().for_each(|bytes| *bytes = (*to).min(*bytes));
            }
            _ => {}
        }
        self.named.retain(|inode, path| now.get(path).is_some_and(|(there, _)| there == inode));
        for (path, (inode, size)) in now {
            let longest = self.longest.entry(inode).or_default();
            *longest = size.max(*longest);
            self.had.insert((inode, path));
        }
    }
}

impl Sure {
    /// Whether a file ever had a name.
    fn had(&self, inode: Inode, path: &str) -> bool {
        let names = match path.split_once('/') {
            Some((_, name)) if self.folder_renamed => {
                FOLDERS.map(|folder| format!("{folder}/{name}"))
            }
            _ => [path.to_owned(), path.to_owned()],
        };
        names.into_iter().any(|name| self.had.contains(&(inode, name)))
    }
}

fn play(ops: &[Op]) -> (World, Sure) {
    let (mut world, mut sure) = (World::new(), Sure::default());
    for op in ops {
        match op {
            Op::Folder(path) => world.folder(path),
            Op::Append(path, bytes) => world.append(path, *bytes),
            Op::Sync(path) => world.sync(path),
            Op::SyncRoot => world.sync_root(),
            Op::Truncate(path, to) => world.truncate(path, *to),
            Op::Remove(path) => world.remove(path),
            Op::Rename(from, to) => world.rename(from, to),
        }
        sure.after(&world, op);
    }
    (world, sure)
}

/// A folder's new name is lost, and what was made in it is not.
#[test]
fn what_was_made_in_a_renamed_folder_may_be_found_under_the_old_name() {
    let ops = [Op::Folder("d"), Op::SyncRoot, Op::Rename("d", "e"), Op::Append("e/f", 1)];
    let (world, sure) = play(&ops);
    let found = (0..64).filter(|seed| {
        let left = world.files(Some(&world.lose(Survives::Drawn, *seed)));
        left.get("d/f").is_some_and(|(inode, _)| sure.had(*inode, "d/f"))
    });
    assert!(found.count() > 0);
    let nothing = world.files(Some(&world.lose(Survives::Nothing, 0)));
    assert!(nothing.is_empty(), "{nothing:?}");
}

proptest! {
    #[test]
    fn what_was_synced_is_there_and_nothing_else_appears(
        ops in vec(op(), 0..60), seed: u64, adversarial: bool,
    ) {
        let (world, sure) = play(&ops);
        let survives = if adversarial { Survives::Nothing } else { Survives::Drawn };
        let loss = world.lose(survives, seed);
        let left = world.files(Some(&loss));
        for (inode, path) in &sure.named {
            let (there, size) = left[path];
            prop_assert_eq!(there, *inode, "{} is another file", path);
            prop_assert!(size >= sure.bytes[inode], "{} has {} bytes", path, size);
        }
        for (path, (inode, size)) in &left {
            prop_assert!(sure.had(*inode, path), "{} is new", path);
            prop_assert!(*size <= sure.longest[inode]);
            let synced = sure.bytes.get(inode).copied().unwrap_or_default();
            prop_assert!(*size >= synced, "{path} has {size} of {synced} synced bytes");
        }
        if adversarial {
            let all: u64 = loss.lost.values().sum();
            let before: u64 = world.files(None).values().map(|(_, size)| size).sum();
            let kept: u64 = world.files(None).values().map(|(inode, _)| {
                left.values().find(|(there, _)| there == inode).map_or(0, |(_, size)| *size)
            }).sum();
            prop_assert_eq!(all, before - kept);
        }
        prop_assert_eq!(world.lose(survives, seed), loss, "the seed decides");
    }
}
