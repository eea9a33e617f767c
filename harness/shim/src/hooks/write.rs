//! Writes: they can be delayed and refused; those that the kernel syncs at once are journalled.
//!
//! Others need no line: what a file holds beyond its synced length is not durable.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_uint, c_void, iovec, loff_t, off_t, off64_t, size_t, ssize_t};

use super::{note_size, passes};
use crate::{
    config::{self, Config},
    errno,
    interpose::interpose,
    layout::letter,
    levers::Call,
    place::{Place, facts_of},
};

interpose! {
    fn write(fd: c_int, bytes: *const c_void, count: size_t) -> ssize_t,
        real => written(fd, None, real);
    fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t,
        real => written(fd, None, real);
    fn pwrite(fd: c_int, bytes: *const c_void, count: size_t, at: off_t) -> ssize_t,
        real => written(fd, Some(at), real);
    fn pwrite64(fd: c_int, bytes: *const c_void, count: size_t, at: off64_t) -> ssize_t,
        real => written(fd, Some(at), real);
    fn pwritev(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t,
        real => written(fd, Some(at), real);
    fn pwritev64(fd: c_int, parts: *const iovec, count: c_int, at: off64_t) -> ssize_t,
        real => written(fd, Some(at), real);
    fn pwritev2(fd: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t,
        real => flagged(fd, at, flags, real);
    fn pwritev64v2(
        fd: c_int, parts: *const iovec, count: c_int, at: off64_t, flags: c_int
    ) -> ssize_t,
        real => flagged(fd, at, flags, real);
    fn sendfile(to: c_int, from: c_int, at: *mut off_t, count: size_t) -> ssize_t,
        real => written(to, None, real);
    fn sendfile64(to: c_int, from: c_int, at: *mut off64_t, count: size_t) -> ssize_t,
        real => written(to, None, real);
    fn splice(
        from: c_int, from_at: *mut loff_t, to: c_int, to_at: *mut loff_t,
        count: size_t, flags: c_uint
    ) -> ssize_t,
        real => written(to, None, real);
    fn copy_file_range(
        from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t,
        count: size_t, flags: c_uint
    ) -> ssize_t,
        real => written(to, None, real);
    fn fallocate(fd: c_int, mode: c_int, at: off_t, count: off_t) -> c_int,
        real => reserved(fd, real);
    fn fallocate64(fd: c_int, mode: c_int, at: off64_t, count: off64_t) -> c_int,
        real => reserved(fd, real);
    fn posix_fallocate(fd: c_int, at: off_t, count: off_t) -> c_int,
        real => reserved_or_errno(fd, real);
    fn posix_fallocate64(fd: c_int, at: off64_t, count: off64_t) -> c_int,
        real => reserved_or_errno(fd, real);
}

/// Whether a watched file was opened whose writes are synced at once.
static SOME_ARE_SYNCED: AtomicBool = AtomicBool::new(false);

/// From now on writes are looked at.
pub fn some_are_synced() {
    SOME_ARE_SYNCED.store(true, Ordering::Relaxed);
}

/// The watched file's settings, when this write is of interest: else it goes by at once.
fn interested(fd: c_int, is_flagged: bool) -> Option<&'static Config> {
    let config = config::get()?;
    let some = is_flagged || SOME_ARE_SYNCED.load(Ordering::Relaxed);
    if !some && !config.levers.act_on(Call::Write) {
        return None;
    }
    errno::kept(|| Place::opened(config, fd)).map(|_| config)
}

fn written(fd: c_int, at: Option<i64>, real: impl FnOnce() -> ssize_t) -> ssize_t {
    looked_at(fd, at, false, real)
}

fn flagged(fd: c_int, at: i64, flags: c_int, real: impl FnOnce() -> ssize_t) -> ssize_t {
    // -1 stands for the file's own position.
    let is_synced = flags & (libc::RWF_SYNC | libc::RWF_DSYNC) != 0;
    looked_at(fd, Some(at).filter(|at| *at >= 0), is_synced, real)
}

fn looked_at(
    fd: c_int,
    at: Option<i64>,
    is_synced: bool,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    let Some(config) = interested(fd, is_synced) else { return real() };
    if !passes(config, Call::Write) {
        return -1;
    }
    let written = real();
    if written > 0 {
        errno::kept(|| note_synced(config, fd, at.map(|at| at + written as i64), is_synced));
    }
    written
}

/// Journals the end of a write that the kernel has synced.
fn note_synced(config: &Config, fd: c_int, end: Option<i64>, is_synced: bool) {
    // SAFETY: it only asks.
    let (flags, position) =
        unsafe { (libc::fcntl(fd, libc::F_GETFL), libc::lseek64(fd, 0, libc::SEEK_CUR)) };
    if flags < 0 || !(is_synced || flags & libc::O_DSYNC != 0) {
        return;
    }
    let Some(facts) = facts_of(fd).filter(|facts| facts.is_file) else { return };
    // A file that is opened to append to is written at its end, whatever the place that was given.
    let end = match end {
        Some(_) if flags & libc::O_APPEND != 0 => facts.size as i64,
        Some(end) => end,
        None => position,
    };
    if let Ok(end) = u64::try_from(end) {
        note_size(config, letter::SYNCED, facts.identity, end.min(facts.size));
    }
}

fn reserved(fd: c_int, real: impl FnOnce() -> c_int) -> c_int {
    let Some(config) = interested(fd, false) else { return real() };
    if passes(config, Call::Write) { real() } else { -1 }
}

/// As above, for functions that give the error number as their result.
fn reserved_or_errno(fd: c_int, real: impl FnOnce() -> c_int) -> c_int {
    let Some(config) = interested(fd, false) else { return real() };
    let before = errno::get();
    if passes(config, Call::Write) {
        return real();
    }
    let refused = errno::get();
    errno::set(before);
    refused
}
