//! One finding with its evidence: operations around it, what replicas held.

mod held;
mod operation;

#[cfg(test)]
mod tests;

use highwater_history::verdict::Finding;
use maud::{Markup, html};

use crate::{parts::facts, run::Shown};

/// A finding as a block of the page.
pub(crate) fn article(shown: &Shown) -> Markup {
    let finding = &shown.finding;
    let class = if shown.is_permitted() { "finding permitted" } else { "finding" };
    html! {
        article class=(class) {
            h4 { (title(finding)) }
            p { (finding.why) }
            (facts(&[
                ("Rule", Some(format!("{} (evidence {})", finding.rule, finding.evidence))),
                ("Permitted by", finding.clause.clone()),
                ("Fulfilled by", finding.fulfilled_by.clone()),
            ]))
            (operation::window(shown))
            (held::table(shown))
        }
    }
}

/// `lost-write of t-0, value 17 at offset 1041`.
fn title(finding: &Finding) -> String {
    let mut title = finding.anomaly.clone();
    if let Some(key) = &finding.key {
        title += &format!(" of {key}");
    }
    if let Some(value) = finding.value {
        title += &format!(", value {value}");
    }
    if let Some(offset) = finding.offset {
        title += &format!(" at offset {offset}");
    }
    title
}
