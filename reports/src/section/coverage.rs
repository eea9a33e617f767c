//! Coverage: did enough happen for the verdict to mean something.

use maud::{Markup, html};

use super::Entry;
use crate::{Run, parts::table, text::count};

/// The section.
pub const ENTRY: Entry = Entry { order: 60, title: "Coverage", render };

fn render(run: &Run) -> Option<Markup> {
    let floors = &run.verdict.coverage;
    if floors.is_empty() {
        return None;
    }
    let rows = html! {
        @for floor in floors {
            @let met = floor.got >= floor.wanted;
            tr {
                th scope="row" { (floor.floor) }
                td class="num" { (count(floor.wanted)) }
                td class="num" { (count(floor.got)) }
                td {
                    @if met { span class="valid" { "met" } }
                    @else { span class="invalid" { "missed" } }
                }
            }
        }
    };
    let heads = [("", "Floor"), ("num", "Wanted"), ("num", "Got"), ("", "")];
    Some(html! {
        h2 { "Coverage" }
        (table("", "The least that had to happen", &heads, &rows))
    })
}
