//! The page around the sections: head, style, links to the sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{Run, section};

pub(crate) const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");

/// The whole page of a run.
pub(crate) fn page(run: &Run) -> Markup {
    let sections = section::rendered(run);
    let verdict = run.verdict.verdict.as_str();
    let name = run.manifest.as_ref().map_or("history", |manifest| &manifest.run);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (verdict) " · " (name) " · Highwater" }
                style { (PreEscaped(STYLE)) }
            }
            body {
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
                footer { "Highwater " (env!("CARGO_PKG_VERSION")) ". This file needs no other." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}
