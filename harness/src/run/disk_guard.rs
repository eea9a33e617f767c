//! Keeps a run from filling the disk: it does not start where little is left, and ends in order
//! before nothing is.

use std::{io, path::Path, time::Duration};

use nix::sys::statvfs::statvfs;
use tokio::time;

use super::fail::Failure;

/// What must be free before a run starts: a usual one needs less, a long one is guarded.
const AT_THE_START: u64 = 256 << 20;
/// What must stay free for the nodes to stop and the outcome to be written.
const AT_LEAST: u64 = 64 << 20;
/// How often it is looked at: a disk tells nobody that it fills.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Whether a run may start with its folder at `folder`.
///
/// # Errors
/// One sentence when too little is free.
pub(super) fn admit(folder: &Path) -> Result<(), Failure> {
    match free_bytes(folder) {
        Ok(free) if free < AT_THE_START => Err(full("not started", free, AT_THE_START, folder)),
        // Who cannot be asked may have room.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Waits until too little is left, and says so.
pub(super) async fn fills(folder: &Path) -> Failure {
    loop {
        if let Ok(free) = free_bytes(folder)
            && free < AT_LEAST
        {
            return full("ended", free, AT_LEAST, folder);
        }
        time::sleep(LOOK_EVERY).await;
    }
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let stat = statvfs(folder)?;
    Ok(stat.blocks_available() * stat.fragment_size())
}

fn full(what: &str, free: u64, wanted: u64, folder: &Path) -> Failure {
    let (free, wanted) = (free >> 20, wanted >> 20);
    Failure::Harness(format!(
        "{what}: {free} MiB are free where run folders go, {}, and a run needs {wanted}; make room \
         or name another folder with --out",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{AT_THE_START, admit, free_bytes, full};

    #[test]
    fn the_sentence_says_how_much_is_free_and_what_to_do() {
        let why = full("not started", 5 << 20, AT_THE_START, Path::new("out")).to_string();
        assert!(why.starts_with("not started: 5 MiB are free where run folders go, out,"), "{why}");
        assert!(why.ends_with("make room or name another folder with --out"), "{why}");
    }

    #[test]
    fn a_folder_that_cannot_be_asked_stops_nobody() {
        assert!(admit(Path::new("/no/such/folder")).is_ok());
        assert!(free_bytes(Path::new("/")).is_ok());
    }
}
