//! Histories as files: what the recorder writes, what the reader takes, drops and refuses.

use std::{
    fs,
    io::{self, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use highwater_history::{
    Event, FormatError, Manifest,
    ahead::read_ahead,
    event::{EventKind, Function, Process},
    format::Document,
    reader::HistoryReader,
    recorder::{RecordError, Recorder},
};
use tempfile::TempDir;

const LINES: &str = concat!(
    r#"{"index":0,"time":1,"process":1,"type":"invoke","f":"poll"}"#,
    "\n",
    r#"{"index":1,"time":2,"process":1,"type":"ok","f":"poll"}"#,
    "\n",
);

fn poll(time: u64, kind: EventKind) -> Event {
    Event::new(time, Process::Client(1), kind, Function::Poll)
}

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn file_with(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let file = folder.path().join(name);
    fs::write(&file, bytes).expect("a temporary file can be written");
    file
}

fn gzip(text: &str, level: flate2::Compression) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(text.as_bytes()).expect("gzip packs");
    gzip.finish().expect("gzip packs")
}

fn read(file: &Path) -> Result<(Vec<u64>, Option<u64>), FormatError> {
    let mut reader = HistoryReader::open(file)?;
    let mut indexes = Vec::new();
    while let Some(event) = reader.next() {
        indexes.push(event?.index);
        assert_eq!(reader.line(), indexes.len() as u64);
    }
    Ok((indexes, reader.dropped_line()))
}

#[test]
fn packed_by_suffix() {
    let folder = folder();
    let zstd = zstd::encode_all(LINES.as_bytes(), 1).expect("zstd packs");
    let gzip = gzip(LINES, flate2::Compression::fast());
    for (name, bytes) in
        [("h.jsonl", LINES.as_bytes()), ("h.jsonl.zst", &zstd), ("h.jsonl.gz", &gzip)]
    {
        let file = file_with(&folder, name, bytes);
        assert_eq!(read(&file).expect("the history is read"), (vec![0, 1], None), "{name}");
    }
}

#[test]
fn an_incomplete_last_line_is_dropped_and_noted() {
    let folder = folder();
    for cut in 1..20 {
        let file = file_with(&folder, "h.jsonl", &LINES.as_bytes()[..LINES.len() - cut]);
        let (indexes, dropped) = read(&file).expect("the history is read");
        match cut {
            1 => assert_eq!((indexes, dropped), (vec![0, 1], None), "only the newline is missing"),
            _ => assert_eq!((indexes, dropped), (vec![0], Some(2)), "cut by {cut}"),
        }
    }
}

#[test]
fn a_broken_line_is_an_error_with_line_and_field() {
    let folder = folder();
    let broken = LINES.replacen("\"ok\"", "\"yes\"", 1) + LINES;
    let file = file_with(&folder, "h.jsonl", broken.as_bytes());
    let why = read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("h.jsonl: line 2: field `type`: unknown type \"yes\""), "{why}");
}

#[test]
fn a_header_says_the_version() {
    let folder = folder();
    let with = |version: u64| format!("{{\"format\":{version}}}\n");
    let file = file_with(&folder, "h.jsonl", (with(1) + "").as_bytes());
    assert_eq!(read(&file).expect("the known version is read").0, Vec::<u64>::new());
    let file = file_with(&folder, "h.jsonl", (with(2) + LINES).as_bytes());
    let why = read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("history format 2 is unknown, this program reads format 1"), "{why}");
}

#[test]
fn a_header_that_says_more_is_still_one() {
    let folder = folder();
    let with =
        |format: u64| format!("{{\"format\":{format},\"kind\":\"history\",\"by\":\"x\"}}\n{LINES}");
    let file = file_with(&folder, "h.jsonl", with(1).as_bytes());
    let indexes = HistoryReader::open(&file).expect("it opens").map(|e| e.expect("an event").index);
    assert_eq!(indexes.collect::<Vec<_>>(), [0, 1]);
    let file = file_with(&folder, "h.jsonl", with(2).as_bytes());
    let why = read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("history format 2 is unknown"), "{why}");
}

#[test]
fn events_are_counted_by_their_lines() {
    let folder = folder();
    let zstd = zstd::encode_all(LINES.as_bytes(), 1).expect("zstd packs");
    let headed = format!("{{\"format\":1}}\n{LINES}");
    let first = LINES.find('\n').expect("a line") + 1;
    let cases: [(&str, &[u8], u64); 9] = [
        ("h.jsonl", LINES.as_bytes(), 2),
        ("h.jsonl.zst", &zstd, 2),
        ("h.jsonl", headed.as_bytes(), 2),
        ("h.jsonl", LINES.trim_end().as_bytes(), 2),
        ("h.jsonl", &LINES.as_bytes()[..LINES.len() - 2], 1),
        ("h.jsonl", &LINES.as_bytes()[..first], 1),
        ("h.jsonl", &LINES.as_bytes()[..first - 1], 1),
        ("h.jsonl", &LINES.as_bytes()[..first - 2], 0),
        ("h.jsonl", b"", 0),
    ];
    for (name, bytes, events) in cases {
        let reader = HistoryReader::open(&file_with(&folder, name, bytes)).expect("it opens");
        assert_eq!(reader.count().expect("it is counted"), events, "{name} {}", bytes.len());
    }
}

#[test]
fn a_file_that_says_it_is_another_is_no_history() {
    let folder = folder();
    let header = "{\"format\":1,\"kind\":\"samples\"}\n";
    for text in [header.to_owned(), format!("{header}{LINES}"), header.trim_end().to_owned()] {
        let why = read(&file_with(&folder, "h.jsonl", text.as_bytes())).expect_err("it is refused");
        let why = why.to_string();
        let wanted = "h.jsonl: line 1: field `kind`: \"samples\", expected \"history\"";
        assert!(why.ends_with(wanted), "{why}");
    }
}

/// The last one would win, and another reader may take the first.
#[test]
fn a_field_that_stands_twice_is_refused() {
    let folder = folder();
    let event = |f: &str, rest: &str| {
        format!("{{\"index\":0,\"time\":1,\"process\":1,\"type\":\"info\",\"f\":\"{f}\"{rest}}}\n")
    };
    for (f, rest, why) in [
        ("poll", r#","time":2"#, "field `time`: stands twice"),
        ("poll", r#","node":1,"node":1"#, "field `node`: stands twice"),
        ("poll", r#","by":1,"by":1"#, "field `by`: stands twice"),
        ("poll", r#","by":{"x":[{"y":1,"y":2}]}"#, "field `by`: `y` stands twice"),
        (
            "poll",
            r#","value":[["poll",{"t-0":[[0,1]],"t-1":[],"t-0":[[0,2]]}]]"#,
            "field `value`: `t-0` stands twice",
        ),
        ("kill", r#","value":{"nodes":[1],"nodes":[2]}"#, "field `value`: `nodes` stands twice"),
        (
            "open",
            r#","value":{"client":1,"kind":"producer","processes":[1],"acks":"1","acks":"all"}"#,
            "field `value`: `acks` stands twice",
        ),
        ("poll", r#","error":{"code":"A","code":"B"}"#, "field `error`: `code` stands twice"),
        ("poll", r#","errors":[{"code":"A","code":"B"}]"#, "field `errors`: `code` stands twice"),
        (
            "poll",
            r#","id":{"producer_id":1,"producer_id":2,"producer_epoch":0,"sequence":0}"#,
            "field `id`: duplicate field `producer_id`",
        ),
        (
            "poll",
            r#","leader_epochs":{"t-0":[[0,1]],"t-0":[[0,2]]}"#,
            "field `leader_epochs`: `t-0` stands twice",
        ),
        (
            "poll",
            r#","rebalance-log":[{"keys":[],"by":1,"by":2}]"#,
            "field `rebalance-log`: `by` stands twice",
        ),
    ] {
        let text = event("poll", "") + &event(f, rest) + LINES;
        let said = read(&file_with(&folder, "h.jsonl", text.as_bytes())).expect_err("refused");
        let wanted = format!("h.jsonl: line 2: {why}");
        assert!(said.to_string().contains(&wanted), "{wanted:?} is not {said}");
    }
}

/// A killed writer leaves any part of a file: of a character, of a number, of a frame.
#[test]
fn a_history_cut_anywhere_is_read_up_to_there() {
    let folder = folder();
    let id =
        r#""by":"é","id":{"producer_id":-1,"producer_epoch":-1,"sequence":-1},"x":1.5e-7,"y":true"#;
    let text = LINES.replace("\"poll\"}", &format!("\"poll\",{id}}}"));
    for (name, bytes) in [
        ("h.jsonl", text.clone().into_bytes()),
        ("h.jsonl.zst", zstd::encode_all(text.as_bytes(), 1).expect("zstd packs")),
        ("h.jsonl.gz", gzip(&text, flate2::Compression::fast())),
        ("stored.jsonl.gz", gzip(&text, flate2::Compression::none())),
    ] {
        for cut in 0..bytes.len() {
            let file = file_with(&folder, name, &bytes[..cut]);
            let (indexes, dropped) = read(&file).unwrap_or_else(|why| panic!("{cut}: {why}"));
            assert!(indexes.len() <= 2, "{name} cut at {cut}");
            let whole = cut == 0 || matches!(bytes[cut - 1], b'\n' | b'}');
            let packed = name != "h.jsonl" && cut > 0;
            assert!(whole && !packed || dropped.is_some(), "{name} cut at {cut} is noted");
        }
    }
}

/// Damage is no cut: what stands in such a file is not to be judged.
#[test]
fn a_flipped_bit_is_not_taken_for_a_cut() {
    const TAIL_BYTES: usize = 150;
    let folder = folder();
    let line = |n: u64| {
        let (time, value) = (n * 7919, n * 31);
        let head = format!(r#""index":{n},"time":{time},"process":1,"type":"info","f":"send""#);
        format!("{{{head},\"value\":[[\"send\",\"t-0\",{value}]]}}\n")
    };
    let text: String = (0..40).map(line).collect();
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("zstd packs");
    zstd.include_checksum(true).expect("zstd packs");
    zstd.write_all(text.as_bytes()).expect("zstd packs");
    let zstd = zstd.finish().expect("zstd packs");
    for (name, bytes) in
        [("h.jsonl.zst", zstd), ("h.jsonl.gz", gzip(&text, flate2::Compression::fast()))]
    {
        let mut refused = 0;
        let bits = (bytes.len() - TAIL_BYTES) * 8..bytes.len() * 8;
        for bit in bits.clone() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match read(&file_with(&folder, name, &flipped)) {
                Ok((indexes, dropped)) => {
                    assert_eq!((indexes.len(), dropped), (40, None), "{name}: bit {bit}");
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > bits.len() - 20, "{name}: {refused} of {}", bits.len());
        let mut last = bytes.clone();
        *last.last_mut().expect("a byte") ^= 1;
        let file = file_with(&folder, name, &last);
        let why = read(&file).expect_err("it is refused").to_string();
        assert!(why.contains(&format!("{name}: its packing is damaged: ")), "{why}");
        let counted = HistoryReader::open(&file).expect("it opens").count();
        assert!(counted.is_err(), "{name}: what is damaged is not counted");
    }
}

/// Which of the two is met first does not depend on threads.
#[test]
fn who_breaks_off_before_a_broken_line_is_told_so() {
    let folder = folder();
    let broken = format!("{LINES}oops\n{LINES}");
    let file = file_with(&folder, "h.jsonl", broken.as_bytes());
    for _ in 0..50 {
        let reader = HistoryReader::open(&file).expect("the history opens");
        let read =
            read_ahead(reader, |columns| match columns.rows().any(|row| row.head.line == 2) {
                true => ControlFlow::Break("unfit"),
                false => ControlFlow::Continue(()),
            });
        let read = read.expect("nobody asks what follows");
        assert_eq!((read.broke_off, read.dropped_line), (Some("unfit"), None));
    }
    let reader = HistoryReader::open(&file).expect("the history opens");
    let mut taken = 0;
    let broken = read_ahead(reader, |columns| {
        taken += columns.len();
        ControlFlow::<()>::Continue(())
    });
    assert!(broken.expect_err("it is refused").to_string().contains("line 3"));
    assert_eq!(taken, 2, "what stands before the broken line is taken");
}

/// What cannot be read at all behind whole lines: it is told after them, as it is event by event.
#[test]
fn lines_before_unreadable_ones_are_taken() {
    let folder = folder();
    let file = file_with(&folder, "h.jsonl", &[LINES.as_bytes(), b"\xff\n"].concat());
    let mut packed = gzip(LINES, flate2::Compression::fast());
    let checksum = packed.len() - 8;
    packed[checksum] ^= 1;
    for file in [file, file_with(&folder, "h.jsonl.gz", &packed)] {
        let by_event = read(&file).expect_err("it is refused").to_string();
        let mut taken = 0;
        let reader = HistoryReader::open(&file).expect("the history opens");
        let in_columns = read_ahead(reader, |columns| {
            taken += columns.len();
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(in_columns.expect_err("it is refused").to_string(), by_event);
        assert_eq!(taken, 2, "{}", file.display());
    }
}

/// Lines of which no two fit among what may be under way.
#[test]
fn long_lines_wait_for_each_other() {
    let folder = folder();
    let long = "x".repeat(3 << 20);
    let event = |index| {
        let said = format!(r#""time":{index},"process":1,"type":"invoke","f":"poll","x":"{long}""#);
        format!("{{\"index\":{index},{said}}}\n")
    };
    let lines: String = (0..9).map(event).collect();
    let file = file_with(&folder, "h.jsonl", lines.as_bytes());
    let mut taken = 0;
    let reader = HistoryReader::open(&file).expect("the history opens");
    let read = read_ahead(reader, |columns| {
        taken += columns.len();
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(read.expect("the history is whole").dropped_line, None);
    assert_eq!(taken, 9);
}

/// A few bytes must not fill the memory.
#[test]
fn what_unpacks_to_too_much_is_refused() {
    let folder = folder();
    let blank = " ".repeat(64 << 20);
    let zstd = zstd::encode_all(blank.as_bytes(), 1).expect("zstd packs");
    for (name, bytes) in [("h.jsonl.zst", zstd), ("h.jsonl.gz", gzip(&blank, Default::default()))] {
        let file = file_with(&folder, name, &bytes);
        for why in [
            read(&file).expect_err("it is refused").to_string(),
            Manifest::read(&file).expect_err("it is refused").to_string(),
        ] {
            assert!(why.contains("damaged: it unpacks to more than 250 times its size"), "{why}");
        }
    }
    let endless = read(Path::new("/dev/zero")).expect_err("it is refused").to_string();
    assert_eq!(endless, "/dev/zero: line 1: it is longer than 64 MiB");
}

#[test]
fn a_missing_file_is_named() {
    let why = read(Path::new("/nowhere/h.jsonl")).expect_err("it is refused").to_string();
    assert!(why.starts_with("/nowhere/h.jsonl: "), "{why}");
}

#[test]
fn the_recorder_numbers_events_and_keeps_time_from_running_back() {
    let folder = folder();
    let file = folder.path().join("h.jsonl");
    let mut recorder = Recorder::create(&file).expect("a history is created");
    assert!(recorder.is_empty());
    for (time, kind) in [(5, EventKind::Invoke), (4, EventKind::Ok), (9, EventKind::Invoke)] {
        recorder.append(&mut poll(time, kind)).expect("an event is appended");
    }
    recorder.flush().expect("the history is flushed");
    assert_eq!(recorder.len(), 3);
    let events: Vec<_> = HistoryReader::open(&file)
        .expect("the history opens")
        .map(|event| event.expect("an event"))
        .map(|event| (event.index, event.time))
        .collect();
    assert_eq!(events, [(0, 5), (1, 5), (2, 9)]);
}

/// Counts writes, so that a test can see what reached the kernel and when.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no test panics here").push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn all_waiting_events_leave_in_one_write() {
    let writes = Writes::default();
    let mut recorder = Recorder::new(Path::new("h.jsonl"), writes.clone());
    for time in 0..100 {
        recorder.append(&mut poll(time, EventKind::Invoke)).expect("an event is appended");
    }
    assert!(writes.0.lock().expect("unpoisoned").is_empty(), "nothing left before the flush");
    recorder.flush().expect("the history is flushed");
    recorder.flush().expect("nothing is left to flush");
    let writes = writes.0.lock().expect("unpoisoned");
    assert_eq!(writes.len(), 1);
    assert_eq!(writes[0].iter().filter(|byte| **byte == b'\n').count(), 100);
}

#[test]
fn a_full_disk_is_an_error_of_its_own() {
    let mut recorder = Recorder::create(Path::new("/dev/full")).expect("/dev/full opens");
    recorder.append(&mut poll(1, EventKind::Invoke)).expect("the event waits");
    let error = recorder.flush().expect_err("the device is full");
    assert!(matches!(error, RecordError::Full(_)), "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    let again = recorder.flush().expect_err("what could not be written is not forgotten");
    assert!(matches!(again, RecordError::Full(_)));
}
