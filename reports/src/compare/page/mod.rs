//! The page of a comparison: the table first, then what it stands on.

mod costs;
mod details;
pub(super) mod down;
mod losses;

use maud::{Markup, html};

use super::{
    comparison::{Cluster, Comparison},
    model::Setting,
};
use crate::{
    page::{document, footer},
    text::{count, counted},
};

const OWN_STYLE: &str = include_str!("../../../assets/compare.css");

/// One self-contained page.
pub fn page(comparison: &Comparison) -> String {
    let title = format!("What settings cost and lose: {}", comparison.target);
    let body = html! {
        main {
            header { h1 { (title) } (basis(comparison)) }
            section class="advice" aria-label="Advice" { (sentences(&comparison.advice)) }
            @for (nth, cluster) in comparison.clusters.iter().enumerate() {
                (of_cluster(cluster, if nth == 0 { &comparison.findings } else { &[] }))
            }
            p class="note" { "Repeat all: " code { (comparison.command) } }
        }
        (footer())
    };
    document(&title, OWN_STYLE, &body).into_string()
}

/// The table first; after that of the first kind of cluster, what there is to say of all.
fn of_cluster(cluster: &Cluster, findings: &[String]) -> Markup {
    let name = cluster.name();
    let label = |what: &str| {
        if name.is_empty() { what.to_owned() } else { format!("{what}, {name}") }
    };
    html! {
        @if !name.is_empty() { h2 class="cluster" { "With " (name) } }
        section class="losses" aria-label=(label("Losses")) { (losses::heat(&cluster.cells)) }
        @if !findings.is_empty() {
            section aria-label="Findings" {
                h2 { "What each choice costs and lost" }
                (sentences(findings))
            }
        }
        section aria-label=(label("Brokers down")) { (down::table_of(&cluster.down)) }
        @if !cluster.cells.is_empty() {
            section aria-label=(label("Causes")) { (losses::causes(&cluster.cells)) }
        }
        section aria-label=(label("Costs")) { (costs::costs(&cluster.calm, &cluster.links)) }
        @if !cluster.cells.is_empty() {
            section aria-label=(label("Every cell")) { (details::details(&cluster.cells)) }
        }
        section aria-label=(label("Runs")) { (details::runs(&cluster.runs)) }
    }
}

fn basis(comparison: &Comparison) -> Markup {
    let runs = comparison.runs().count() as u64;
    let left_out = comparison.runs().filter(|run| run.left_out.is_some()).count() as u64;
    let shared = comparison.shared.iter().map(|(name, value)| format!("{name} {value}"));
    let shared = shared.collect::<Vec<_>>().join(", ");
    html! {
        p class="note" {
            (counted(runs, "run"))
            @if runs < comparison.planned {
                " of " (count(comparison.planned)) ": " strong { "it was cut short" }
            }
            @if left_out > 0 {
                ", " strong { (count(left_out)) " not in the figures" } " (see Runs)"
            }
            "; every fault hits all settings at the same instant"
            @if !shared.is_empty() { "; all with " (shared) }
            ". Lost: acknowledged, and absent from the log after recovery; at acks=0, sent and \
             absent. A loss that no clause of the contract permits is red."
        }
    }
}

fn sentences(of: &[String]) -> Markup {
    html! { ul class="sentences" { @for sentence in of { li { (sentence) } } } }
}

/// The heads of a row that begins with its setting.
const SETTING: [(&str, &str); 4] = [("", "acks"), ("", "min ISR"), ("", "unclean"), ("", "flush")];

fn setting(of: &Setting) -> Markup {
    html! {
        td { (of.acks.as_str()) }
        td { (of.min_isr) }
        td { @if of.unclean { "on" } @else { "off" } }
        td class="nowrap" { @if of.flushed { "every batch" } @else { "none" } }
    }
}

/// What stands where nothing happened.
fn dash() -> String {
    "–".to_owned()
}

fn count_or_dash(of: Option<&u64>) -> String {
    of.map_or(dash(), |of| count(*of))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Cluster, Comparison, page};

    #[test]
    fn a_comparison_that_was_cut_short_says_so() {
        let names = ("node".to_owned(), "highwater compare".to_owned());
        let of = |planned| {
            let clusters = vec![Cluster::default()];
            page(&Comparison::of(names.clone(), BTreeMap::new(), (clusters, planned)))
        };
        assert!(of(7).contains("0 runs of 7: <strong>it was cut short</strong>"));
        assert!(!of(0).contains("cut short"));
    }

    /// Who reads the first screen only sees the table.
    #[test]
    fn the_table_stands_before_the_findings() {
        let names = ("node".to_owned(), "highwater compare".to_owned());
        let of = Comparison::of(names, BTreeMap::new(), (vec![Cluster::default()], 0));
        let (advice, findings) = (vec!["Choose.".to_owned()], vec!["It lost.".to_owned()]);
        let page = page(&Comparison { advice, findings, ..of });
        let places = ["Choose.", "What each setting loses", "It lost."].map(|of| page.find(of));
        assert!(page.contains("Not measured: no run with faults counts."));
        assert!(!page.contains("Every cell"), "a table without rows");
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    }
}
