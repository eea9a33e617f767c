//! The page around what is told: head, style, and a run's links to its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{Run, section};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");

/// A self-contained document: the style of every page, and what this one adds to it.
pub(crate) fn document(title: &str, own_style: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Highwater" }
                style { (PreEscaped(STYLE)) (PreEscaped(own_style)) }
            }
            body { (body) }
        }
    }
}

/// The end of every page.
pub(crate) fn footer() -> Markup {
    html! { footer { "Highwater " (env!("CARGO_PKG_VERSION")) ". This file needs no other." } }
}

/// The whole page of a run.
pub(crate) fn page(run: &Run) -> Markup {
    let sections = section::rendered(run);
    let verdict = run.verdict.verdict.as_str();
    let name = run.manifest.as_ref().map_or("history", |manifest| &manifest.run);
    let body = html! {
        a class="skip" href="#summary" { "Skip to the verdict" }
        nav aria-label="Sections" {
            ul {
                @for one in &sections { li { a href={ "#" (one.id) } { (one.title) } } }
            }
        }
        main {
            @for one in &sections {
                section id=(one.id) aria-label=(one.title) { (one.body) }
            }
        }
        (footer())
        script { (PreEscaped(SCRIPT)) }
    };
    document(&format!("{verdict} · {name}"), "", &body)
}
