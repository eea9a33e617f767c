//! The library in a real process: this test binary started again, with the library preloaded.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails at that place")]

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use layout::Slot;
use tempfile::TempDir;

/// Tells the child what to do.
const PART: &str = "SHIM_TEST_PART";

#[allow(dead_code, reason = "the variables and the letters are written out here")]
#[path = "../src/layout.rs"]
mod layout;

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let folder = TempDir::new().unwrap();
        for name in ["data", "kept"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("journal"), "").unwrap();
        fs::write(folder.path().join("control"), [0; 128]).unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts this binary again to play a part with the library.
    fn start(&self, part: &str) -> Child {
        let own = env::current_exe().unwrap();
        let library = own.parent().unwrap().join("libhighwater_shim.so");
        assert!(library.is_file(), "{} is not there", library.display());
        let mut command = Command::new(own);
        command.args(["child", "--exact", "--nocapture"]).current_dir(self.folder.path());
        command.env(PART, part).env("LD_PRELOAD", library).stdout(Stdio::null());
        let path = |name: &str| self.path(name);
        command.env("HIGHWATER_DISK_ROOTS", path("data")).env("HIGHWATER_DISK_KEPT", path("kept"));
        command.env("HIGHWATER_DISK_JOURNAL", path("journal"));
        command.env("HIGHWATER_DISK_CONTROL", path("control")).spawn().unwrap()
    }

    fn play(&self, part: &str) {
        assert!(self.start(part).wait().unwrap().success());
    }

    fn set(&self, slot: Slot, number: u64) {
        let control = OpenOptions::new().write(true).open(self.path("control")).unwrap();
        control.write_all_at(&number.to_ne_bytes(), slot as u64 * 8).unwrap();
    }

    fn get(&self, slot: Slot) -> u64 {
        let mut bytes = [0; 8];
        let control = File::open(self.path("control")).unwrap();
        control.read_exact_at(&mut bytes, slot as u64 * 8).unwrap();
        u64::from_ne_bytes(bytes)
    }

    /// The journal's lines without processes and devices; inodes that still have a name in the
    /// folder are named.
    fn lines(&self) -> Vec<String> {
        let names = ["data", "data/d", "data/f", "data/g", "data/h", "data/d/x"];
        let known: Vec<(String, &str)> = names
            .iter()
            .filter_map(|name| Some((fs::metadata(self.path(name)).ok()?.ino().to_string(), *name)))
            .collect();
        let named = |word: &str| {
            let found = known.iter().find(|(inode, _)| inode == word);
            found.map_or(word.to_owned(), |(_, name)| format!("<{name}>"))
        };
        let text = fs::read_to_string(self.path("journal")).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('P'));
        let lines = lines.map(|line| line.strip_suffix(';').unwrap());
        let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
        let said = words.map(|words| {
            let rest: Vec<String> = words[2..].iter().map(|word| named(word)).collect();
            format!("{} {}", words[0], rest.join(" "))
        });
        said.collect()
    }
}

/// The child; does nothing when it runs as a test.
#[test]
fn child() {
    let Ok(part) = env::var(PART) else { return };
    match part.as_str() {
        "sync" => sync(),
        "names" => names(),
        "outside" => outside(),
        "write" => fs::write("data/f", "x").unwrap(),
        "refused" => refused(),
        "endless" => endless(),
        other => panic!("no part {other}"),
    }
}

fn append(path: &str) -> File {
    OpenOptions::new().create(true).append(true).open(path).unwrap()
}

fn sync() {
    let mut file = append("data/f");
    file.write_all(b"0123456789").unwrap();
    file.sync_all().unwrap();
    file.write_all(b"more").unwrap();
    file.set_len(12).unwrap();
    file.sync_data().unwrap();
    file.set_len(4).unwrap();
    drop(File::create(env::current_dir().unwrap().join("data/f")).unwrap());
    let mut options = OpenOptions::new();
    options.create(true).append(true).custom_flags(libc::O_DSYNC);
    let mut direct = options.open("data/g").unwrap();
    direct.write_all(b"12345").unwrap();
    direct.write_all(b"6").unwrap();
    File::open("data").unwrap().sync_all().unwrap();
}

fn names() {
    fs::create_dir("data/d").unwrap();
    fs::write("data/f", "old").unwrap();
    fs::write("data/d/x", "new").unwrap();
    fs::rename("data/d/x", "data/f").unwrap();
    fs::hard_link("data/f", "data/g").unwrap();
    fs::remove_file("data/g").unwrap();
    fs::create_dir_all("data/d/e").unwrap();
    fs::remove_dir_all("data/d/e").unwrap();
}

fn outside() {
    fs::write("elsewhere", "x").unwrap();
    File::open("elsewhere").unwrap().sync_all().unwrap();
    fs::write("data-too", "x").unwrap();
    fs::rename("elsewhere", "data-too").unwrap();
    File::open("data").unwrap();
}

fn refused() {
    let mut file = append("data/f");
    let full = file.write_all(b"x").unwrap_err();
    assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EIO));
    append("elsewhere").write_all(b"x").unwrap();
    io::stderr().write_all(b"").unwrap();
}

fn endless() {
    let mut file = append("data/f");
    loop {
        file.write_all(b"x").unwrap();
        file.sync_data().unwrap();
    }
}

#[test]
fn what_is_synced_is_journalled_with_its_length() {
    let bench = Bench::new();
    bench.play("sync");
    let wanted = [
        "C <data/f> <data> f",
        "S <data/f> 10",
        "T <data/f> 12",
        "S <data/f> 12",
        "T <data/f> 4",
        "T <data/f> 0",
        "C <data/g> <data> g",
        "S <data/g> 5",
        "S <data/g> 6",
        "D <data>",
    ];
    assert_eq!(bench.lines(), wanted);
    assert_eq!(bench.get(Slot::Attached), 1);
}

#[test]
fn names_are_journalled_and_a_replaced_file_is_kept() {
    let bench = Bench::new();
    bench.play("names");
    let lines = bench.lines();
    let kept: Vec<_> = fs::read_dir(bench.path("kept")).unwrap().map(Result::unwrap).collect();
    let old = kept[0].file_name().into_string().unwrap();
    assert_eq!(fs::read_to_string(kept[0].path()).unwrap(), "old");
    let wanted = [
        "C <data/d> <data> d".to_owned(),
        format!("C {old} <data> f"),
        "C <data/f> <data/d> x".to_owned(),
        format!("R <data/f> <data/d> <data> {old} x/f"),
        "L <data/f> <data> g".to_owned(),
        "U <data/f> <data> g".to_owned(),
    ];
    assert_eq!(lines[..6], wanted);
    let inode = lines[6].split(' ').nth(1).unwrap();
    assert_eq!(lines[6..], [format!("C {inode} <data/d> e"), format!("U {inode} <data/d> e")]);
}

#[test]
fn what_is_outside_is_left_alone() {
    let bench = Bench::new();
    bench.play("outside");
    assert_eq!(bench.lines(), Vec::<String>::new());
}

#[test]
fn calls_wait_and_are_counted() {
    let bench = Bench::new();
    let bare = time(|| bench.play("write"));
    bench.set(Slot::WriteDelay, 400_000);
    let delayed = time(|| bench.play("write"));
    assert!(delayed >= Duration::from_millis(400), "{delayed:?} after {bare:?}");
    assert_eq!([Slot::WritesDelayed, Slot::SyncsDelayed].map(|slot| bench.get(slot)), [1, 0]);
}

#[test]
fn calls_are_refused_and_counted_only_in_the_watched_folders() {
    let bench = Bench::new();
    bench.set(Slot::WriteError, libc::ENOSPC as u64);
    bench.set(Slot::SyncError, libc::EIO as u64);
    bench.play("refused");
    assert_eq!([Slot::WritesRefused, Slot::SyncsRefused].map(|slot| bench.get(slot)), [1, 1]);
    assert_eq!(fs::metadata(bench.path("data/f")).unwrap().len(), 0);
}

/// The control file acts at once on a running process, and a kill loses no line of the journal.
#[test]
fn a_running_process_is_slowed_and_a_kill_loses_nothing() {
    let bench = Bench::new();
    let mut child = bench.start("endless");
    let length = || fs::metadata(bench.path("data/f")).map_or(0, |file| file.len());
    until(|| length() > 20);
    bench.set(Slot::SyncDelay, 60_000_000);
    until(|| {
        let before = length();
        thread::sleep(Duration::from_millis(100));
        before == length()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let synced = bench.lines().last().unwrap().rsplit(' ').next().unwrap().parse::<u64>();
    assert_eq!(synced.unwrap() + 1, length(), "the last byte was not synced, all others were");
    bench.set(Slot::SyncDelay, 0);
    bench.play("write");
    assert_eq!(bench.lines().last().unwrap(), "T <data/f> 0", "another process goes on");
}

#[test]
fn without_its_variables_it_passes_everything_on() {
    let own = env::current_exe().unwrap();
    let library = own.parent().unwrap().join("libhighwater_shim.so");
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let mut command = Command::new(own);
    command.args(["child", "--exact"]).current_dir(folder.path()).stdout(Stdio::null());
    let status = command.env(PART, "names").env("LD_PRELOAD", library).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(folder.path().join("data/f")).unwrap(), "new");
}

fn time(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

fn until(mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came to that");
        thread::sleep(Duration::from_millis(1));
    }
}
