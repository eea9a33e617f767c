//! The control file, mapped: what is written into it acts at once, and calls are counted in it.

use std::{
    ffi::CString,
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

use libc::{c_int, timespec};

use crate::layout::{SLOTS, Slot};

/// What a call to the disk is.
#[derive(Clone, Copy)]
pub enum Call {
    /// Bytes are written or room is reserved.
    Write,
    /// What was written is made durable.
    Sync,
}

/// The numbers of the control file; without one nothing is delayed or refused.
pub struct Levers(Option<&'static [AtomicU64; SLOTS]>);

impl Levers {
    /// Maps the file.
    pub fn map(path: Option<CString>) -> Levers {
        Levers(path.and_then(|path| map(&path)))
    }

    fn get(&self, slot: Slot) -> u64 {
        self.0.map_or(0, |slots| slots[slot as usize].load(Ordering::Relaxed))
    }

    /// Counts one more.
    pub fn count(&self, slot: Slot) {
        if let Some(slots) = self.0 {
            slots[slot as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether calls of this kind are delayed or refused at present.
    pub fn act_on(&self, call: Call) -> bool {
        let (delay, error) = call.levers();
        self.get(delay) != 0 || self.get(error) != 0
    }

    /// Lets a call on a watched file wait, and gives the error that refuses it.
    pub fn pass(&self, call: Call) -> Result<(), c_int> {
        let (delay, error) = call.levers();
        let (delayed, refused) = call.counters();
        let micros = self.get(delay);
        if micros != 0 {
            sleep(micros);
            self.count(delayed);
        }
        match self.get(error) {
            0 => Ok(()),
            errno => {
                self.count(refused);
                Err(errno as c_int)
            }
        }
    }
}

impl Call {
    fn levers(self) -> (Slot, Slot) {
        match self {
            Call::Write => (Slot::WriteDelay, Slot::WriteError),
            Call::Sync => (Slot::SyncDelay, Slot::SyncError),
        }
    }

    fn counters(self) -> (Slot, Slot) {
        match self {
            Call::Write => (Slot::WritesDelayed, Slot::WritesRefused),
            Call::Sync => (Slot::SyncsDelayed, Slot::SyncsRefused),
        }
    }
}

fn map(path: &CString) -> Option<&'static [AtomicU64; SLOTS]> {
    let flags = libc::O_RDWR | libc::O_CLOEXEC;
    let length = SLOTS * size_of::<AtomicU64>();
    // SAFETY: the path ends with a zero byte; the kernel checks the rest. The mapping is never
    // undone, and the harness makes the file as long as it must be before it starts the process.
    unsafe {
        let fd = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) as c_int;
        if fd < 0 {
            return None;
        }
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let mapped =
            libc::syscall(libc::SYS_mmap, ptr::null::<u8>(), length, prot, flags, fd, 0i64);
        libc::syscall(libc::SYS_close, fd);
        (mapped > 0).then(|| &*(mapped as *const [AtomicU64; SLOTS]))
    }
}

/// Sleeps so many microseconds, also when signals come in between.
fn sleep(micros: u64) {
    let nanos = (micros % 1_000_000) * 1_000;
    let mut left = timespec { tv_sec: (micros / 1_000_000) as i64, tv_nsec: nanos as i64 };
    // SAFETY: both places are ours.
    while unsafe { libc::nanosleep(&left, &mut left) } != 0 && crate::errno::get() == libc::EINTR {}
}
