//! The sections of the page: one file each, in the order that each gives itself.

use maud::Markup;

use crate::Run;

/// One section of the page.
pub struct Entry {
    /// Sections stand in rising order.
    pub(crate) order: u32,
    /// What the page's links call it.
    pub(crate) title: &'static str,
    /// The section, heading included; none when the run has nothing to say here.
    pub(crate) render: fn(&Run) -> Option<Markup>,
}

include!(concat!(env!("OUT_DIR"), "/section_table.rs"));

/// A section as it stands on the page.
pub(crate) struct Rendered {
    /// Where links to it lead.
    pub id: &'static str,
    /// What links call it.
    pub title: &'static str,
    /// The section itself.
    pub body: Markup,
}

/// All sections that the run has something to say in, in order.
pub(crate) fn rendered(run: &Run) -> Vec<Rendered> {
    let mut entries: Vec<_> = TABLE.iter().map(|(id, _, entry)| (*id, *entry)).collect();
    entries.sort_by_key(|(_, entry)| entry.order);
    let render = |(id, entry): (&'static str, &Entry)| {
        let body = (entry.render)(run)?;
        Some(Rendered { id, title: entry.title, body })
    };
    entries.into_iter().filter_map(render).collect()
}
