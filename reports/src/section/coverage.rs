//! Coverage: did enough happen for the verdict to mean something.

use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{facts, table},
    text::count,
};

/// The section.
pub const ENTRY: Entry = Entry { order: 60, title: "Coverage", render };

fn render(run: &Run) -> Option<Markup> {
    let floors = &run.verdict.coverage;
    let counted = run.outcome.as_ref().map(|outcome| &outcome.coverage);
    let others = counted.into_iter().flatten();
    let others = others.filter(|(name, _)| floors.iter().all(|floor| floor.floor != **name));
    let others: Vec<(&str, Option<String>)> =
        others.map(|(name, n)| (name.as_str(), Some(count(*n)))).collect();
    if floors.is_empty() && others.is_empty() {
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
        @if !floors.is_empty() { (table("", "The least that had to happen", &heads, &rows)) }
        @if !others.is_empty() { h3 { "Also counted" } (facts(&others)) }
    })
}
