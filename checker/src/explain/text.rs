//! An explanation as text for a terminal.

use std::fmt::{self, Write};

use highwater_history::TimeNs;

use super::{Explanation, Place, Row};
use crate::text::{plain, write_name};

/// Records of one operation that are told one by one.
const SHOWN: usize = 6;

impl Explanation {
    /// The explanation for a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a string takes any text");
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        write!(text, "{}. ", self.number)?;
        write_name(text, &self.finding)?;
        writeln!(text, ", claim {}", self.claim)?;
        writeln!(text, "  {}", plain(&self.finding.why))?;
        self.write_operations(text)?;
        if self.given_up {
            writeln!(text, "\nThe search for less was given up: not all of these may be needed.")?;
        }
        if !self.faults.is_empty() {
            writeln!(text, "\nmeanwhile:")?;
            for fault in &self.faults {
                let at = seconds(fault.at);
                writeln!(text, "  {at} s  {} (event {})", plain(&fault.what), fault.event)?;
            }
        }
        if !self.beside.is_empty() {
            writeln!(text, "\nbeside the history it stands on:")?;
            for beside in &self.beside {
                let line = beside.line.map_or_else(String::new, |line| format!(" line {line}"));
                writeln!(text, "  {}{line}: {}", beside.file, plain(&beside.says))?;
            }
        }
        writeln!(text)?;
        let sentences = [Some(&self.why), self.absent.as_ref(), self.excuse.as_ref()];
        sentences.into_iter().flatten().try_for_each(|sentence| wrap(text, &plain(sentence)))
    }

    fn write_operations(&self, text: &mut String) -> fmt::Result {
        if self.operations.is_empty() {
            return writeln!(text, "\nIt takes no operation of the history.");
        }
        let heads = ["events", "seconds", "process", "node", "asked", "came back", "records"];
        let mut lines = vec![heads.map(str::to_owned)];
        let plainly = |row| cells(row).map(|cell| plain(&cell).into_owned());
        lines.extend(self.operations.iter().map(plainly));
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..heads.len()).map(width).collect();
        writeln!(text)?;
        for line in &lines {
            let padded: Vec<String> =
                line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            writeln!(text, "  {}", padded.join("  ").trim_end())?;
        }
        Ok(())
    }
}

fn cells(row: &Row) -> [String; 7] {
    let events: Vec<String> = row.events.iter().map(u64::to_string).collect();
    let to = row.to.map_or("...".to_owned(), seconds);
    [
        events.join(","),
        format!("{} to {to}", seconds(row.from)),
        format!("{} ({})", row.process, row.role),
        row.node.map_or_else(String::new, |node| node.to_string()),
        row.asked.clone(),
        row.answer.clone(),
        records(row),
    ]
}

/// Records by key, each as OFFSET:VALUE, with the epoch where it changes.
fn records(row: &Row) -> String {
    let of_keys = row.records.chunk_by(|one, next| one.key == next.key);
    let mut told: Vec<String> = of_keys.map(of_key).collect();
    if row.left_out > 0 {
        told.push(format!("({} more)", row.left_out));
    }
    told.join("  ")
}

fn of_key(places: &[Place]) -> String {
    let mut told = format!("{}", places[0].key);
    let mut epoch = None;
    for (nth, place) in places.iter().enumerate() {
        let hidden = places.len() > SHOWN && (SHOWN / 2..places.len() - SHOWN / 2).contains(&nth);
        if hidden {
            told += if nth == SHOWN / 2 { " ..." } else { "" };
            continue;
        }
        let offset = place.offset.map_or("?".to_owned(), |offset| offset.to_string());
        told += &format!(" {offset}:{}", place.value);
        if place.epoch.is_some() && place.epoch != epoch {
            epoch = place.epoch;
            told += &epoch.map_or_else(String::new, |epoch| format!(" (epoch {epoch})"));
        }
    }
    told
}

fn seconds(ns: TimeNs) -> String {
    let us = ns / 1_000;
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// Columns of a paragraph.
const WIDTH: usize = 100;

fn wrap(text: &mut String, paragraph: &str) -> fmt::Result {
    let mut column = 0;
    for word in paragraph.split(' ') {
        if column > 0 && column + 1 + word.len() > WIDTH {
            writeln!(text)?;
            column = 0;
        }
        let blank = if column > 0 { " " } else { "" };
        write!(text, "{blank}{word}")?;
        column += blank.len() + word.len();
    }
    writeln!(text)
}
