//! Keeps a run from filling the disk: it does not start where little is left, and ends in order
//! before nothing is.

use std::{collections::VecDeque, io, path::Path, sync::mpsc, thread, time::Duration};

use nix::sys::statvfs::statvfs;
use tokio::{sync::oneshot, time::Instant};

use super::fail::Failure;

/// What must be free before a run starts: a usual one needs less, a long one is guarded.
const AT_THE_START: u64 = 256 << 20;
/// What must stay free for the outcome to be written.
const AT_LEAST: u64 = 64 << 20;
/// How often it is looked at: a disk tells nobody that it fills.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How far back one looks to tell how fast the space goes.
const SEEN_FOR: Duration = Duration::from_secs(1);
/// What went in a shorter time went in this: space goes by leaps.
const SHORTEST: Duration = Duration::from_millis(500);
/// For how long the space must last at that pace: until the next look on a busy machine, and until
/// the nodes have stopped.
const MUST_LAST: Duration = Duration::from_secs(1);

/// Whether a run may start with its folder at `folder`.
///
/// # Errors
/// One sentence when too little is free.
pub(super) fn admit(folder: &Path) -> Result<(), Failure> {
    match free_bytes(folder) {
        Ok(free) if free < AT_THE_START => {
            Err(full("not started", (free, AT_THE_START), "a run needs", folder))
        }
        // Who cannot be asked may have room.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Waits until too little is left, and says so.
///
/// # Panics
/// When the thread that looks has ended by a panic.
pub(super) async fn fills(folder: &Path) -> Failure {
    // A thread of its own looks: the run's tasks are late when clients send as fast as they can.
    let (told, tell) = oneshot::channel();
    let (_stop, stopped) = mpsc::channel::<()>();
    let asked = folder.to_owned();
    thread::spawn(move || {
        if let Some(least) = watch(&asked, &stopped) {
            // Whoever waited may have gone.
            let _gone = told.send(least);
        }
    });
    let short = tell.await.expect("the thread looks as long as somebody waits");
    full("ended", short, "at the pace at which it goes a run needs", folder)
}

/// Looks until too little is left, and gives what is free and what is needed; `None` when nobody
/// waits any more.
fn watch(folder: &Path, stopped: &mpsc::Receiver<()>) -> Option<(u64, u64)> {
    let (mut pace, begun) = (Pace::default(), Instant::now());
    loop {
        if let Ok(free) = free_bytes(folder) {
            let needed = pace.needed(begun.elapsed(), free);
            if free < needed {
                return Some((free, needed));
            }
        }
        match stopped.recv_timeout(LOOK_EVERY) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// How fast the space goes: what was free at each look of the last second.
#[derive(Debug, Default)]
struct Pace {
    looks: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// What must be free now: enough for the end, and for what goes until then.
    fn needed(&mut self, now: Duration, free: u64) -> u64 {
        // The oldest look that is kept lies a second back or more, also where looks are late.
        while self.looks.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) >= SEEN_FOR) {
            self.looks.pop_front();
        }
        self.looks.push_back((now, free));
        // A pace that has just begun shows since the last looks alone.
        let goes = self.looks.iter().map(|(at, was)| {
            let seen_ms = now.saturating_sub(*at).max(SHORTEST).as_millis();
            u128::from(was.saturating_sub(free)) * MUST_LAST.as_millis() / seen_ms
        });
        let goes = u64::try_from(goes.max().unwrap_or(0)).unwrap_or(u64::MAX);
        AT_LEAST.saturating_add(goes)
    }
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let stat = statvfs(folder)?;
    Ok(stat.blocks_available() * stat.fragment_size())
}

fn full(what: &str, (free, needed): (u64, u64), why: &str, folder: &Path) -> Failure {
    let (free, needed) = (free >> 20, needed >> 20);
    Failure::Harness(format!(
        "{what}: {free} MiB are free where run folders go, {}, and {why} {needed}; make room or \
         name another folder with --out",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::mpsc, thread, time::Duration};

    use super::{AT_LEAST, AT_THE_START, Pace, admit, free_bytes, full, watch};

    /// How long nodes may write on after the run was ended.
    const STOPS_IN_MS: u64 = 500;

    /// Plays a text such as `1200 free, 500 ms at 0, 9000 ms at 300` (MiB and MiB a second) and
    /// looks every `look_ms`; gives what is free once the nodes have stopped, `None` when the run
    /// went on to the end of the text.
    fn left(text: &str, look_ms: u64) -> Option<u64> {
        let (free, phases) = text.split_once(" free, ").unwrap();
        let mut free_kib = free.parse::<u64>().unwrap() << 10;
        let (mut pace, mut now_ms) = (Pace::default(), 0);
        for phase in phases.split(", ") {
            let (lasts, goes) = phase.split_once(" ms at ").unwrap();
            let goes = goes.parse::<u64>().unwrap() << 10;
            let ends = now_ms + lasts.parse::<u64>().unwrap();
            while now_ms < ends {
                let needed = pace.needed(Duration::from_millis(now_ms), free_kib << 10);
                if free_kib << 10 < needed {
                    return Some(free_kib.saturating_sub(goes * STOPS_IN_MS / 1000) >> 10);
                }
                free_kib = free_kib.saturating_sub(goes * look_ms / 1000);
                now_ms += look_ms;
            }
        }
        None
    }

    #[test]
    fn what_the_end_needs_is_left_however_fast_the_space_goes() {
        for (text, look_ms) in [
            ("1200 free, 9000 ms at 300", 50),
            ("1200 free, 900 ms at 0, 9000 ms at 900", 50),
            ("256 free, 2000 ms at 0, 9000 ms at 300", 50),
            ("1200 free, 9000 ms at 300", 400),
            ("20000 free, 90000 ms at 2000", 50),
        ] {
            let left = left(text, look_ms).unwrap();
            assert!(left >= 20, "{text}: {left} MiB");
        }
    }

    #[test]
    fn a_run_goes_on_while_its_space_lasts() {
        assert_eq!(left("450 free, 100 ms at 800, 10000 ms at 10", 50), None, "one burst");
        assert_eq!(left("500 free, 40000 ms at 10", 50), None);
        let last = left("500 free, 60000 ms at 10", 50).unwrap();
        assert!((64..75).contains(&last), "what a slow run leaves unused: {last} MiB");
    }

    #[test]
    fn space_that_comes_back_is_no_pace() {
        let mut pace = Pace::default();
        pace.needed(Duration::ZERO, 100 << 20);
        assert_eq!(pace.needed(Duration::from_millis(50), 900 << 20), AT_LEAST);
    }

    #[test]
    fn nobody_looks_any_more_once_the_run_has_ended() {
        let (stop, stopped) = mpsc::channel();
        let looks = thread::spawn(move || watch(Path::new("/no/such/folder"), &stopped));
        drop(stop);
        assert_eq!(looks.join().unwrap(), None);
    }

    #[test]
    fn the_sentence_says_how_much_is_free_and_what_to_do() {
        let short = (5 << 20, AT_THE_START);
        let why = full("not started", short, "a run needs", Path::new("out")).to_string();
        assert!(why.starts_with("not started: 5 MiB are free where run folders go, out,"), "{why}");
        assert!(why.ends_with("make room or name another folder with --out"), "{why}");
    }

    #[test]
    fn a_folder_that_cannot_be_asked_stops_nobody() {
        assert!(admit(Path::new("/no/such/folder")).is_ok());
        assert!(free_bytes(Path::new("/")).is_ok());
    }
}
