//! Where a path or a descriptor leads: into a watched folder or not, and to which inode.

use std::{ffi::CStr, mem::MaybeUninit};

use libc::{c_char, c_int};

use crate::config::Config;

/// The longest path that is understood.
const LONGEST: usize = libc::PATH_MAX as usize;
/// What the kernel says after the path of an open file that has no name any more.
const GONE: &[u8] = b" (deleted)";

/// Which file or directory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The inode's number.
    pub inode: u64,
}

/// What the kernel says of a file.
#[derive(Clone, Copy)]
pub struct Facts {
    /// Which it is.
    pub identity: Identity,
    /// Its length in bytes.
    pub size: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// The facts of an open file.
pub fn facts_of(fd: c_int) -> Option<Facts> {
    let mut stat = MaybeUninit::uninit();
    // SAFETY: the kernel fills it in when it says so.
    (unsafe { libc::fstat64(fd, stat.as_mut_ptr()) } == 0)
        .then(|| facts(&unsafe { stat.assume_init() }))
}

/// Which open file it is.
pub fn identity_of(fd: c_int) -> Option<Identity> {
    facts_of(fd).map(|facts| facts.identity)
}

fn facts(stat: &libc::stat64) -> Facts {
    let kind = stat.st_mode & libc::S_IFMT;
    Facts {
        identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        size: stat.st_size as u64,
        is_dir: kind == libc::S_IFDIR,
        is_file: kind == libc::S_IFREG,
    }
}

/// An absolute path in a watched folder, on the stack.
pub struct Place {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Place {
    /// The place that a call names; `None` when it is outside of the watched folders, or one of
    /// them itself.
    pub fn named(config: &Config, dirfd: c_int, path: *const c_char) -> Option<Place> {
        if path.is_null() {
            return None;
        }
        // SAFETY: a path that is given to the C library ends with a zero byte.
        let path = unsafe { CStr::from_ptr(path) }.to_bytes();
        let mut place = Place { bytes: [0; LONGEST], length: 0 };
        if !path.starts_with(b"/") {
            place.length = place.folder(dirfd)?;
            place.push(b"/")?;
        } else if !config.roots.iter().any(|root| path.starts_with(root)) {
            // Most paths that a process opens: said without a copy.
            return None;
        }
        place.push(path)?;
        while place.length > 1 && place.path().ends_with(b"/") {
            place.length -= 1;
            place.bytes[place.length] = 0;
        }
        place.is_watched(config).then_some(place)
    }

    /// The place of an open file that has a name in a watched folder, or is such a folder.
    pub fn opened(config: &Config, fd: c_int) -> Option<Place> {
        let mut place = Place { bytes: [0; LONGEST], length: 0 };
        place.length = place.link_of(fd)?;
        let is_root = config.roots.iter().any(|root| place.path() == root.as_slice());
        let is_gone = place.path().ends_with(GONE);
        ((is_root || place.is_watched(config)) && !is_gone).then_some(place)
    }

    fn is_watched(&self, config: &Config) -> bool {
        config.roots.iter().any(|root| {
            let rest = self.path().strip_prefix(root.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        })
    }

    /// The path.
    pub fn path(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The path, followed by a zero byte.
    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }

    /// Its last part.
    pub fn name(&self) -> &[u8] {
        let path = self.path();
        let slash = path.iter().rposition(|byte| *byte == b'/');
        slash.and_then(|slash| path.get(slash + 1..)).unwrap_or(path)
    }

    /// The folder that names it.
    pub fn parent(&self) -> Option<Identity> {
        let slash = self.path().iter().rposition(|byte| *byte == b'/')?;
        let mut folder = Place { bytes: [0; LONGEST], length: 0 };
        folder.push(self.path().get(..slash)?)?;
        folder.facts().map(|facts| facts.identity)
    }

    /// What is there now, no link followed.
    pub fn facts(&self) -> Option<Facts> {
        let mut stat = MaybeUninit::uninit();
        // SAFETY: the path ends with a zero byte; the kernel fills the rest in when it says so.
        (unsafe { libc::lstat64(self.as_ptr(), stat.as_mut_ptr()) } == 0)
            .then(|| facts(&unsafe { stat.assume_init() }))
    }

    /// Adds to the path and leaves room for a zero byte.
    pub fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length.checked_add(bytes.len()).filter(|end| *end < LONGEST)?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    /// A path of its own that begins with these bytes.
    pub fn from(bytes: &[u8]) -> Option<Place> {
        let mut place = Place { bytes: [0; LONGEST], length: 0 };
        place.push(bytes)?;
        Some(place)
    }

    fn folder(&mut self, dirfd: c_int) -> Option<usize> {
        if dirfd != libc::AT_FDCWD {
            return self.link_of(dirfd);
        }
        // SAFETY: the room is ours, and its size is told.
        let got = unsafe { libc::getcwd(self.bytes.as_mut_ptr().cast(), LONGEST - 1) };
        (!got.is_null()).then(|| self.bytes.iter().take_while(|byte| **byte != 0).count())
    }

    /// Where the kernel says that a descriptor leads.
    fn link_of(&mut self, fd: c_int) -> Option<usize> {
        let mut link = crate::journal::Line::default();
        link.bytes(b"/proc/self/fd/").digits(u64::try_from(fd).ok()?).bytes(b"\0");
        let link = link.whole()?;
        let room = self.bytes.as_mut_ptr().cast();
        // SAFETY: the link's name ends with a zero byte; the room is ours, and its size is told.
        let got = unsafe { libc::readlink(link.as_ptr().cast(), room, LONGEST - 1) };
        usize::try_from(got).ok()
    }
}
