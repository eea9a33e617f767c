//! The journal: one line a record, appended by one system call, so that a kill loses none.

use std::{
    ffi::CString,
    sync::atomic::{AtomicI32, Ordering},
};

use libc::c_int;

use crate::{
    config::Config,
    layout::{END, Slot, letter},
    place::{Identity, identity_of},
};

/// The longest line: two names and a few numbers.
const LONGEST: usize = 1024;

/// An append-only file. Its descriptor is checked before each use: programs may close descriptors
/// that they do not know.
pub struct Journal {
    path: CString,
    fd: AtomicI32,
    identity: Option<Identity>,
}

impl Journal {
    /// The journal in this file, which is there already.
    pub fn new(path: CString) -> Journal {
        let fd = open(&path);
        Journal { path, fd: AtomicI32::new(fd), identity: identity_of(fd) }
    }

    /// Says that a process begins; ends a line that the one before may have left unfinished.
    pub fn begin(&self, config: &Config) {
        // SAFETY: it cannot fail.
        let pid = unsafe { libc::getpid() };
        let mut line = Line::default();
        line.bytes(b"\n").bytes(&[letter::PROCESS]).number(pid as u64);
        self.append(config, line);
    }

    /// Appends a line; one that cannot be written is counted.
    pub fn append(&self, config: &Config, mut line: Line) {
        line.bytes(END);
        let written = line.whole().is_some_and(|bytes| write(self.fd(), bytes));
        if !written {
            config.levers.count(Slot::LinesLost);
        }
    }

    fn fd(&self) -> c_int {
        let fd = self.fd.load(Ordering::Relaxed);
        if self.identity.is_some() && identity_of(fd) == self.identity {
            return fd;
        }
        let fd = open(&self.path);
        self.fd.store(fd, Ordering::Relaxed);
        fd
    }
}

/// A line in the making, on the stack.
pub struct Line {
    bytes: [u8; LONGEST],
    length: usize,
    whole: bool,
}

impl Default for Line {
    fn default() -> Line {
        Line { bytes: [0; LONGEST], length: 0, whole: true }
    }
}

impl Line {
    /// A line of this kind about this file or directory.
    pub fn of(letter: u8, identity: Identity) -> Line {
        let mut line = Line::default();
        line.bytes(&[letter]).number(identity.device).number(identity.inode);
        line
    }

    /// Adds a number after a space.
    pub fn number(&mut self, number: u64) -> &mut Line {
        self.bytes(b" ").digits(number)
    }

    /// Adds a number.
    pub fn digits(&mut self, number: u64) -> &mut Line {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut left = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.bytes(&digits[at..])
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Line {
        match self.bytes.get_mut(self.length..self.length + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.whole = false,
        }
        self
    }

    /// The line, unless it did not fit.
    pub fn whole(&self) -> Option<&[u8]> {
        self.bytes.get(..self.length).filter(|_| self.whole)
    }
}

fn open(path: &CString) -> c_int {
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) as c_int }
}

fn write(fd: c_int, bytes: &[u8]) -> bool {
    loop {
        // SAFETY: the bytes are ours.
        let written = unsafe { libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) };
        if written >= 0 || crate::errno::get() != libc::EINTR {
            return written == bytes.len() as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_letters_numbers_and_names() {
        let mut line = Line::of(letter::CREATED, Identity { device: 0, inode: 1_234_567_890 });
        line.number(u64::MAX).bytes(b" 0.log");
        assert_eq!(line.whole().unwrap(), b"C 0 1234567890 18446744073709551615 0.log");
    }

    #[test]
    fn a_line_that_does_not_fit_is_none() {
        let mut line = Line::default();
        line.bytes(&[b'x'; LONGEST]);
        assert!(line.whole().is_some());
        line.bytes(b"y");
        assert!(line.whole().is_none());
    }
}
