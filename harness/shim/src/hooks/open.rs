//! Opening: new files are journalled, and so is what opening cuts off.

use libc::{c_char, c_int, mode_t};

use super::{note_name, note_size, write};
use crate::{
    config::{self, Config},
    errno,
    interpose::interpose,
    layout::letter,
    place::{Place, facts_of},
};

const HERE: c_int = libc::AT_FDCWD;
const CREATES: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

interpose! {
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        real => opened(HERE, path, flags, real);
    fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        real => opened(HERE, path, flags, real);
    fn __open_2(path: *const c_char, flags: c_int) -> c_int,
        real => opened(HERE, path, flags, real);
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int,
        real => opened(HERE, path, flags, real);
    fn openat(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        real => opened(dirfd, path, flags, real);
    fn openat64(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int,
        real => opened(dirfd, path, flags, real);
    fn __openat_2(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int,
        real => opened(dirfd, path, flags, real);
    fn __openat64_2(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int,
        real => opened(dirfd, path, flags, real);
    fn creat(path: *const c_char, mode: mode_t) -> c_int,
        real => opened(HERE, path, CREATES, real);
    fn creat64(path: *const c_char, mode: mode_t) -> c_int,
        real => opened(HERE, path, CREATES, real);
}

fn opened(dirfd: c_int, path: *const c_char, flags: c_int, real: impl FnOnce() -> c_int) -> c_int {
    let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0;
    let Some(config) = config::get().filter(|_| writes) else { return real() };
    let Some(place) = errno::kept(|| Place::named(config, dirfd, path)) else { return real() };
    let creates = flags & libc::O_CREAT != 0;
    let is_new = creates && errno::kept(|| place.facts()).is_none();
    let fd = real();
    if fd >= 0 {
        errno::kept(|| note_opened(config, fd, &place, flags, is_new));
    }
    fd
}

fn note_opened(config: &Config, fd: c_int, place: &Place, flags: c_int, is_new: bool) {
    let Some(facts) = facts_of(fd).filter(|facts| facts.is_file) else { return };
    if is_new {
        note_name(config, letter::CREATED, facts.identity, place);
    } else if flags & libc::O_TRUNC != 0 {
        note_size(config, letter::TRUNCATED, facts.identity, 0);
    }
    if flags & libc::O_DSYNC != 0 {
        write::some_are_synced();
    }
}
