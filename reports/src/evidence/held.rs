//! The table replica x dump: what each log held at the offset of a finding.

use highwater_history::{Offset, dumps::Moment};
use maud::{Markup, html};

use crate::{
    observed::{Held, Holding},
    parts,
    run::Shown,
    text::instant,
};

/// What each dump of the finding's key held at its offset; nothing without dumps.
pub(super) fn table(shown: &Shown) -> Markup {
    if shown.holdings.is_empty() {
        return html! {};
    }
    let place = shown.finding.offset.map(|offset| format!(" at offset {offset}"));
    let place = place.unwrap_or_default();
    let caption = format!("What each replica held{place}; marked rows hold something else");
    let heads = [
        ("", "Replica"),
        ("", "Dump"),
        ("nowrap", "Taken at"),
        ("", "Held"),
        ("num", "High watermark"),
        ("num", "Log end"),
    ];
    let rows = html! {
        @for holding in &shown.holdings {
            tr class=[differs(holding, shown).then_some("hit")] {
                th scope="row" { (holding.node) }
                td class="nowrap" { (moment(holding.moment)) }
                td class="nowrap" { (instant(holding.at_ns)) }
                td { (held_text(&holding.held)) }
                td class="num" { (offset_text(holding.hw)) }
                td class="num" { (holding.leo) }
            }
        }
    };
    parts::table("", &caption, &heads, &rows)
}

/// Whether the log held something else than the finding's value.
fn differs(holding: &Holding, shown: &Shown) -> bool {
    match (&holding.held, shown.finding.value) {
        (Held::Record { value, .. }, Some(wanted)) => *value != Some(wanted),
        (Held::BeforeStart, _) | (_, None) => false,
        (Held::Control { .. } | Held::PastEnd | Held::Gap, Some(_)) => true,
    }
}

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::BeforeRestart => "before restart",
        Moment::BeforeHeal => "before heal",
        Moment::Final => "final",
    }
}

fn held_text(held: &Held) -> String {
    match held {
        Held::Record { value: Some(value), epoch } => format!("value {value}, epoch {epoch}"),
        Held::Record { value: None, epoch } => format!("a payload not of this run, epoch {epoch}"),
        Held::Control { epoch } => format!("a control record, epoch {epoch}"),
        Held::PastEnd => "nothing, the log ends before".to_owned(),
        Held::Gap => "nothing between two batches".to_owned(),
        Held::BeforeStart => "not in this dump, it begins later".to_owned(),
    }
}

fn offset_text(offset: Option<Offset>) -> String {
    offset.map_or("not known".to_owned(), |offset| offset.to_string())
}
