//! Truncations: what is cut off is no longer durable, and what is written there later not yet.

use libc::{c_char, c_int, off_t, off64_t};

use super::note_size;
use crate::{
    config, errno,
    interpose::interpose,
    layout::letter,
    place::{Place, facts_of},
};

interpose! {
    fn ftruncate(fd: c_int, length: off_t) -> c_int, real => truncated(fd, length, real);
    fn ftruncate64(fd: c_int, length: off64_t) -> c_int, real => truncated(fd, length, real);
    fn truncate(path: *const c_char, length: off_t) -> c_int,
        real => truncated_by_path(path, length, real);
    fn truncate64(path: *const c_char, length: off64_t) -> c_int,
        real => truncated_by_path(path, length, real);
}

fn truncated(fd: c_int, length: i64, real: impl FnOnce() -> c_int) -> c_int {
    let watched = config::get().filter(|c| errno::kept(|| Place::opened(c, fd)).is_some());
    if let Some(config) = watched {
        note_cut(config, errno::kept(|| facts_of(fd)), length);
    }
    real()
}

fn truncated_by_path(path: *const c_char, length: i64, real: impl FnOnce() -> c_int) -> c_int {
    if let Some(config) = config::get() {
        let place = errno::kept(|| Place::named(config, libc::AT_FDCWD, path));
        let facts = place.and_then(|place| errno::kept(|| place.facts()));
        note_cut(config, facts, length);
    }
    real()
}

fn note_cut(config: &config::Config, facts: Option<crate::place::Facts>, length: i64) {
    let (Some(facts), Ok(length)) = (facts.filter(|f| f.is_file), u64::try_from(length)) else {
        return;
    };
    if length < facts.size {
        note_size(config, letter::TRUNCATED, facts.identity, length);
    }
}
