//! Mappings: what is written through one is not seen, so the file is journalled as mapped.

use libc::{c_int, c_void, off_t, off64_t, size_t};

use super::note;
use crate::{
    config::{self, Config},
    errno,
    interpose::interpose,
    layout::letter,
    place::{Place, facts_of},
};

interpose! {
    fn mmap(
        at: *mut c_void, length: size_t, prot: c_int, flags: c_int, fd: c_int, from: off_t
    ) -> *mut c_void,
        real => mapped((prot, flags, fd), real);
    fn mmap64(
        at: *mut c_void, length: size_t, prot: c_int, flags: c_int, fd: c_int, from: off64_t
    ) -> *mut c_void,
        real => mapped((prot, flags, fd), real);
}

fn mapped(
    (prot, flags, fd): (c_int, c_int, c_int),
    real: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    let mapped = real();
    let is_written = fd >= 0 && prot & libc::PROT_WRITE != 0 && flags & libc::MAP_SHARED != 0;
    if is_written
        && mapped != libc::MAP_FAILED
        && let Some(config) = config::get()
    {
        errno::kept(|| note_mapped(config, fd));
    }
    mapped
}

fn note_mapped(config: &Config, fd: c_int) {
    if Place::opened(config, fd).is_some()
        && let Some(facts) = facts_of(fd)
    {
        note(config, letter::MAPPED, facts.identity);
    }
}
