//! Names: directories made, files renamed, linked and removed. A file that loses its name to
//! another is kept by a name outside of the watched folders, for the rename may not be durable.

use libc::{c_char, c_int, c_uint, mode_t};

use super::{note_gone, note_name, note_new};
use crate::{
    config::{self, Config},
    errno,
    interpose::interpose,
    journal::Line,
    layout::letter,
    place::{Facts, Identity, Place},
};

const HERE: c_int = libc::AT_FDCWD;

interpose! {
    fn mkdir(path: *const c_char, mode: mode_t) -> c_int,
        real => made(letter::CREATED, HERE, path, real);
    fn mkdirat(dirfd: c_int, path: *const c_char, mode: mode_t) -> c_int,
        real => made(letter::CREATED, dirfd, path, real);
    fn link(old: *const c_char, new: *const c_char) -> c_int,
        real => made(letter::LINKED, HERE, new, real);
    fn linkat(
        old_dir: c_int, old: *const c_char, new_dir: c_int, new: *const c_char, flags: c_int
    ) -> c_int,
        real => made(letter::LINKED, new_dir, new, real);
    fn unlink(path: *const c_char) -> c_int, real => removed(HERE, path, real);
    fn unlinkat(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int,
        real => removed(dirfd, path, real);
    fn remove(path: *const c_char) -> c_int, real => removed(HERE, path, real);
    fn rmdir(path: *const c_char) -> c_int, real => removed(HERE, path, real);
    fn rename(old: *const c_char, new: *const c_char) -> c_int,
        real => renamed((HERE, old), (HERE, new), 0, real);
    fn renameat(
        old_dir: c_int, old: *const c_char, new_dir: c_int, new: *const c_char
    ) -> c_int,
        real => renamed((old_dir, old), (new_dir, new), 0, real);
    fn renameat2(
        old_dir: c_int, old: *const c_char, new_dir: c_int, new: *const c_char, flags: c_uint
    ) -> c_int,
        real => renamed((old_dir, old), (new_dir, new), flags, real);
}

type Named = (c_int, *const c_char);

fn place((dirfd, path): Named) -> Option<(&'static Config, Place)> {
    let config = config::get()?;
    errno::kept(|| Place::named(config, dirfd, path)).map(|place| (config, place))
}

fn made(letter: u8, dirfd: c_int, path: *const c_char, real: impl FnOnce() -> c_int) -> c_int {
    let result = real();
    if let (0, Some((config, place))) = (result, place((dirfd, path))) {
        note_new(config, letter, &place);
    }
    result
}

fn removed(dirfd: c_int, path: *const c_char, real: impl FnOnce() -> c_int) -> c_int {
    if let Some((config, place)) = place((dirfd, path)) {
        note_gone(config, &place);
    }
    real()
}

fn renamed(old: Named, new: Named, flags: c_uint, real: impl FnOnce() -> c_int) -> c_int {
    // An exchange leaves both files with a name.
    if flags & libc::RENAME_EXCHANGE != 0 {
        return real();
    }
    match (place(old), place(new)) {
        (Some((config, old)), Some((_, new))) => renamed_inside(config, &old, &new, real),
        (Some((config, old)), None) => {
            note_gone(config, &old);
            real()
        }
        (None, Some((config, new))) => {
            let result = real();
            if result == 0 {
                note_new(config, letter::CREATED, &new);
            }
            result
        }
        (None, None) => real(),
    }
}

fn renamed_inside(
    config: &Config,
    old: &Place,
    new: &Place,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let (moved, replaced) = errno::kept(|| (old.facts(), new.facts()));
    let replaced = replaced.filter(|r| moved.is_some_and(|m| m.identity != r.identity));
    errno::kept(|| replaced.filter(|r| r.is_file).map(|r| keep(config, new, r)));
    let result = real();
    if let (0, Some(moved)) = (result, moved) {
        errno::kept(|| note_renamed(config, moved.identity, replaced, (old, new)));
    }
    result
}

/// Gives the file that is about to lose its name another one: its inode's number.
fn keep(config: &Config, place: &Place, file: Facts) {
    let Some(mut kept) = Place::from(&config.kept) else { return };
    let mut name = Line::default();
    name.bytes(b"/").digits(file.identity.inode);
    let pushed = name.whole().and_then(|name| kept.push(name));
    if pushed.is_some() {
        // SAFETY: both paths end with a zero byte. One that is kept already stays.
        unsafe {
            libc::syscall(libc::SYS_linkat, HERE, place.as_ptr(), HERE, kept.as_ptr(), 0);
        }
    }
}

fn note_renamed(
    config: &Config,
    moved: Identity,
    replaced: Option<Facts>,
    (old, new): (&Place, &Place),
) {
    let (Some(from), Some(to)) = (old.parent(), new.parent()) else {
        // Its folder went meanwhile; the file has that name and no other.
        return note_name(config, letter::LINKED, moved, new);
    };
    let mut line = Line::of(letter::RENAMED, moved);
    line.number(from.inode).number(to.inode);
    line.number(replaced.map_or(0, |file| file.identity.inode));
    line.bytes(b" ").bytes(old.name()).bytes(b"/").bytes(new.name());
    config.journal.append(config, line);
}
