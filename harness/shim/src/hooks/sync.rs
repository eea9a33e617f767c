//! Syncs: what was in a file when its sync began is durable once the sync has returned.

use libc::c_int;

use super::{note, note_size, passes};
use crate::{
    config, errno,
    interpose::interpose,
    layout::letter,
    levers::Call,
    place::{Place, facts_of},
};

interpose! {
    fn fsync(fd: c_int) -> c_int, real => synced(fd, real);
    fn fdatasync(fd: c_int) -> c_int, real => synced(fd, real);
}

fn synced(fd: c_int, real: impl FnOnce() -> c_int) -> c_int {
    let watched = config::get().filter(|c| errno::kept(|| Place::opened(c, fd)).is_some());
    let Some(config) = watched else { return real() };
    if !passes(config, Call::Sync) {
        return -1;
    }
    // What another thread appends while the sync goes on may not be part of it.
    let before = errno::kept(|| facts_of(fd));
    let result = real();
    if let (0, Some(facts)) = (result, before) {
        if facts.is_dir {
            note(config, letter::DIRECTORY, facts.identity);
        } else if facts.is_file {
            note_size(config, letter::SYNCED, facts.identity, facts.size);
        }
    }
    result
}
