//! A binary history. The first byte says whether the rest is a whole file, or what blocks hold:
//! those are packed here, with heads that fit them, since no mutation finds a checksum.

use super::{folder::Folder, history, judge};

/// Reads a history, and judges it.
pub fn run(bytes: &[u8]) {
    let Some((is_file, rest)) = bytes.split_first() else { return };
    let folder = Folder::new();
    let file = match is_file & 1 {
        1 => folder.write("h.hwh", rest),
        _ => folder.write("h.hwh", &with_heads(rest)),
    };
    let file = file.as_path().into();
    let told = history::read(&file);
    if told.end.is_ok() {
        let lines = history::converted(&file, &told, &folder.file("h.jsonl"));
        let (verdict, of_lines) = (judge::judged(&file), judge::judged(&lines));
        if told.events.iter().map(|(line, _)| *line).eq(1..=told.events.len() as u64) {
            judge::alike(&verdict, &of_lines);
        }
    }
}

/// What separates blocks of an input.
const NEXT_BLOCK: &[u8] = b"\n--\n";

fn with_heads(mut blocks: &[u8]) -> Vec<u8> {
    let mut file = b"highwater history, binary, format 1\n".to_vec();
    loop {
        let end = blocks.windows(NEXT_BLOCK.len()).position(|four| four == NEXT_BLOCK);
        let (block, rest) = blocks.split_at(end.unwrap_or(blocks.len()));
        let packed = zstd::bulk::compress(block, 1).expect("memory takes it");
        let (events, first_line) = told_by(block).unwrap_or((1, 1));
        for number in [packed.len() as u32, block.len() as u32, events, 0] {
            file.extend(number.to_le_bytes());
        }
        file.extend(first_line.to_le_bytes());
        file.extend(packed);
        match rest.get(NEXT_BLOCK.len()..) {
            Some(rest) if end.is_some() => blocks = rest,
            _ => break,
        }
    }
    file.extend([0; 24]);
    file
}

/// How many events a block has, and the first one's line: behind its keys stand the lines and the
/// indexes, each as runs, then a time for each event.
fn told_by(mut block: &[u8]) -> Option<(u32, u64)> {
    for _key in 0..number(&mut block)? {
        let length = number(&mut block)? as usize;
        block = block.get(length..)?;
    }
    let first = runs(&mut block)?;
    runs(&mut block)?;
    let events = number(&mut block)?;
    let first_line = (first >> 1) as i64 ^ -((first & 1) as i64);
    Some((u32::try_from(events).ok()?, first_line as u64))
}

/// Passes numbers, each with how often it stands in a row; the first of them.
fn runs(block: &mut &[u8]) -> Option<u64> {
    let mut first = None;
    for _run in 0..number(block)? {
        let said = number(block)?;
        first.get_or_insert(said);
        number(block)?;
    }
    first
}

/// Seven bits a byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
