//! A file that somebody writes: reading waits at its end for more, until nobody writes it any more.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use nix::{
    errno::Errno,
    sys::inotify::{AddWatchFlags, InitFlags, Inotify},
};

/// A file that grows.
pub(crate) struct Growing {
    file: File,
    events: Inotify,
    read: u64,
    writers: Writers,
}

/// What is known of those who write it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writers {
    /// Nothing yet, or one of them has closed it.
    Unknown,
    /// There is one.
    Some,
    /// There was none; what was written before stands there.
    None,
}

impl Growing {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let events = Inotify::init(InitFlags::IN_CLOEXEC)?;
        events.add_watch(path, AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_CLOSE_WRITE)?;
        Ok(Self { file, events, read: 0, writers: Writers::Unknown })
    }

    /// Waits until somebody wrote or closed it.
    fn wait(&mut self) -> io::Result<()> {
        let events = loop {
            match self.events.read_events() {
                Ok(events) => break events,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        // Events that found no room may have said that it was closed.
        let closed = AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_Q_OVERFLOW;
        if events.iter().any(|event| event.mask.intersects(closed)) {
            self.writers = Writers::Unknown;
        }
        Ok(())
    }
}

impl Read for Growing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.file.read(into)?;
            if read > 0 {
                self.read += read as u64;
                return Ok(read);
            }
            if self.file.metadata()?.len() < self.read {
                let why = "it was shortened while it was followed";
                return Err(io::Error::new(io::ErrorKind::StaleNetworkFileHandle, why));
            }
            match self.writers {
                Writers::None => return Ok(0),
                Writers::Some => self.wait()?,
                // It is read once more: somebody may have written and closed it since.
                Writers::Unknown if is_written(&self.file)? => self.writers = Writers::Some,
                Writers::Unknown => self.writers = Writers::None,
            }
        }
    }
}

/// Whether any process that this one may look at has a file open for writing.
fn is_written(file: &File) -> io::Result<bool> {
    let this = file.metadata()?;
    let is_this = |fd: &fs::DirEntry| {
        let that = fs::metadata(fd.path());
        that.is_ok_and(|that| (that.dev(), that.ino()) == (this.dev(), this.ino()))
    };
    for process in fs::read_dir("/proc")?.flatten() {
        let Ok(open) = fs::read_dir(process.path().join("fd")) else { continue };
        let info = process.path().join("fdinfo");
        let mut of_this = open.flatten().filter(is_this);
        if of_this.any(|fd| is_for_writing(&info.join(fd.file_name()))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a descriptor's flags, which `/proc` shows in octal, allow writing.
fn is_for_writing(info: &Path) -> bool {
    const ACCESS_MODE: u32 = 3;
    let Ok(info) = fs::read_to_string(info) else { return false };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & ACCESS_MODE != 0)
}

#[cfg(test)]
mod tests {
    use std::{io::Write, thread};

    use super::*;

    #[test]
    fn a_file_is_read_until_its_writer_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history.jsonl");
        let mut writer = File::create(&path).expect("it is new");
        let mut growing = Growing::open(&path).expect("it is there");
        let mut buffer = [0; 8];
        for word in ["one", "two"] {
            writer.write_all(word.as_bytes()).expect("it takes them");
            let read = growing.read(&mut buffer).expect("it is read");
            assert_eq!(&buffer[..read], word.as_bytes());
        }
        let waiting = thread::spawn(move || {
            let mut rest = String::new();
            growing.read_to_string(&mut rest).map(|_| rest)
        });
        writer.write_all(b"three").expect("it takes them");
        drop(writer);
        assert_eq!(waiting.join().expect("no panic").expect("it is read"), "three");
    }

    #[test]
    fn a_file_that_nobody_writes_ends_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history.jsonl");
        fs::write(&path, "all").expect("it is written");
        let mut growing = Growing::open(&path).expect("it is there");
        let mut all = String::new();
        growing.read_to_string(&mut all).expect("it is read");
        assert_eq!(all, "all");
    }

    #[test]
    fn a_file_that_was_shortened_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history.jsonl");
        fs::write(&path, "all of it").expect("it is written");
        let writer = File::options().write(true).open(&path).expect("it is there");
        let mut growing = Growing::open(&path).expect("it is there");
        growing.read_exact(&mut [0; 9]).expect("it is read");
        writer.set_len(3).expect("it is shortened");
        let said = growing.read(&mut [0; 9]).expect_err("nothing can be believed");
        assert!(said.to_string().contains("shortened"), "{said}");
    }
}
