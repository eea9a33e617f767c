//! The functions of the C library that this one stands before, by what they do.

mod map;
mod names;
mod open;
mod sync;
mod truncate;
mod write;

use crate::{
    config::Config,
    errno,
    journal::Line,
    layout::letter,
    levers::Call,
    place::{Facts, Identity, Place},
};

/// Journals a line about a file or directory; the caller's error number stays.
fn note(config: &Config, letter: u8, identity: Identity) {
    errno::kept(|| config.journal.append(config, Line::of(letter, identity)));
}

/// Journals up to which length a file is durable, or to which it is about to be cut.
fn note_size(config: &Config, letter: u8, identity: Identity, size: u64) {
    errno::kept(|| {
        let mut line = Line::of(letter, identity);
        line.number(size);
        config.journal.append(config, line);
    });
}

/// Journals a name of a file or directory.
fn note_name(config: &Config, letter: u8, identity: Identity, place: &Place) {
    errno::kept(|| {
        let Some(folder) = place.parent() else { return };
        let mut line = Line::of(letter, identity);
        line.number(folder.inode).bytes(b" ").bytes(place.name());
        config.journal.append(config, line);
    });
}

/// Journals the name of what is not there yet, or of the file whose new name it is.
fn note_new(config: &Config, letter: u8, place: &Place) {
    if let Some(Facts { identity, .. }) = errno::kept(|| place.facts()) {
        note_name(config, letter, identity, place);
    }
}

/// Journals that a name is about to go.
fn note_gone(config: &Config, place: &Place) {
    note_new(config, letter::UNLINKED, place);
}

/// Delays or refuses a call; false, with the error number set, when it is refused.
fn passes(config: &Config, call: Call) -> bool {
    let passed = errno::kept(|| config.levers.pass(call));
    passed.map_err(errno::set).is_ok()
}
