//! With so many replicas down: can it be written, and what was lost.

use std::collections::BTreeSet;

use highwater_history::event::Acks;
use maud::{Markup, html};

use super::dash;
use crate::{
    compare::model::{Controllers, DownCell, Setting},
    parts::table,
    text::{count, significant},
};

/// From here on a setting counts as one that can be written.
pub(in crate::compare) const WRITABLE: f64 = 0.9;
/// Up to here as one that cannot.
const NOT_WRITABLE: f64 = 0.1;

/// The table for clean elections, one column for each number of replicas and kind of controllers.
pub(super) fn table_of(cells: &[DownCell]) -> Markup {
    if cells.is_empty() {
        return html! {};
    }
    let shown = || cells.iter().filter(|cell| !cell.setting.unclean);
    let columns: BTreeSet<(Controllers, u32)> =
        shown().map(|cell| (cell.controllers, cell.down)).collect();
    let rows: BTreeSet<(Acks, u32)> =
        shown().map(|cell| (cell.setting.acks, cell.setting.min_isr)).collect();
    let names: Vec<String> = columns.iter().map(|(of, down)| head(*of, *down)).collect();
    let heads = [("", "acks"), ("", "min ISR")].into_iter();
    let heads: Vec<(&str, &str)> =
        heads.chain(names.iter().map(|name| ("", name.as_str()))).collect();
    let rows = html! {
        @for (acks, min_isr) in rows.iter().rev() {
            tr {
                th scope="row" { (acks.as_str()) }
                th scope="row" { (min_isr) }
                @for (controllers, down) in &columns {
                    (entry(|flushed| {
                        let (acks, min_isr) = (*acks, *min_isr);
                        let setting = Setting { acks, min_isr, unclean: false, flushed };
                        cells.iter().find(|cell| {
                            (cell.controllers, cell.down) == (*controllers, *down)
                                && cell.setting == setting
                        })
                    }))
                }
            }
        }
    };
    html! {
        h2 { "How many brokers may lose power at once" }
        (table("wide", "Could it be written meanwhile; records lost without and with a flush of \
                        every batch; unclean election off", &heads, &rows))
    }
}

fn head(controllers: Controllers, down: u32) -> String {
    let brokers = if down == 1 { "1 broker".to_owned() } else { format!("{down} brokers") };
    match controllers {
        Controllers::Separate => format!("{brokers} down"),
        Controllers::Combined => format!("{brokers} down, combined controllers"),
    }
}

fn entry<'a>(find: impl Fn(bool) -> Option<&'a DownCell>) -> Markup {
    let Some(cached) = find(false) else { return html! { td { (dash()) } } };
    let lost = find(true).map_or(dash(), |flushed| count(flushed.lost));
    html! {
        td {
            strong { (writable(cached.availability)) } ", "
            (count(cached.lost)) " lost; flushed " (lost)
        }
    }
}

/// Whether a setting could be written, in words.
fn writable(part: f64) -> String {
    match part {
        _ if part >= WRITABLE => "writes".to_owned(),
        _ if part <= NOT_WRITABLE => "no writes".to_owned(),
        _ => format!("writes {}% of the time", significant(100.0 * part)),
    }
}

#[cfg(test)]
mod tests {
    use super::writable;

    #[test]
    fn words_say_whether_a_setting_could_be_written() {
        assert_eq!(writable(1.0), "writes");
        assert_eq!(writable(0.02), "no writes");
        assert_eq!(writable(0.5), "writes 50% of the time");
    }
}
