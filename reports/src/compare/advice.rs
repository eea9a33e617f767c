//! What to choose, in sentences computed from the figures.

mod choice;
mod down;
mod forbidden;
mod settings;

use highwater_history::event::Acks;

use super::{
    comparison::Cluster,
    model::{CalmCell, Cell, Losses, Setting},
};
use crate::text::{count, significant};

/// What the figures say.
#[derive(Default)]
pub(super) struct Advice {
    /// What to choose, and what it takes.
    pub choice: Vec<String>,
    /// What each setting costs and lost; of several kinds of cluster the first speaks for itself,
    /// the others of how they differ from it.
    pub findings: Vec<String>,
}

/// One sentence a choice or a setting.
pub(super) fn of(clusters: &[Cluster]) -> Advice {
    let Some((first, others)) = clusters.split_first() else { return Advice::default() };
    let (cells, calm) = (&first.cells, &first.calm);
    let mut choice: Vec<String> = forbidden::sentence(clusters).into_iter().collect();
    choice.extend(choice::sentences(cells));
    choice.extend(latency(calm));
    let mut findings = Vec::new();
    findings.extend(settings::acks(cells));
    findings.extend(settings::min_isr(cells));
    findings.extend(down::sentence(&first.down));
    findings.extend(settings::unclean(cells));
    findings.extend(settings::flush(cells, calm));
    findings.extend(others.iter().filter_map(|other| instead(first, other)));
    Advice { choice, findings }
}

/// What another kind of cluster costs and loses at acks=all without unclean elections.
fn instead(first: &Cluster, other: &Cluster) -> Option<String> {
    let durable = |s: &Setting| s.acks == Acks::All && !s.unclean;
    let figures = |cluster: &Cluster| {
        let lost = of_all(sum(&cluster.cells, durable)?, "acknowledged");
        let written = percent(availability(&cluster.cells, durable)?);
        let took = median(&cluster.calm, Acks::All, false);
        let took = took.map(|p50| significant(p50) + " ms");
        Some((lost, written, took.unwrap_or("not measured".to_owned())))
    };
    let ((lost, written, took), (usual_lost, usual_written, usual_took)) =
        (figures(other)?, figures(first)?);
    Some(format!(
        "{} instead of {}: acks=all with unclean election off lost {lost} instead of {usual_lost}, \
         could be written {written} of the time under faults instead of {usual_written}, and took \
         {took} in the median instead of {usual_took}.",
        other.name(),
        first.name(),
    ))
}

/// The cells that differ from what `keep` fixes in nothing else.
fn sum(cells: &[Cell], keep: impl Fn(&Setting) -> bool) -> Option<(u64, u64)> {
    let mut found = cells.iter().filter(|cell| keep(&cell.setting)).peekable();
    found.peek()?;
    Some(found.fold((0, 0), |(acknowledged, lost), cell| {
        (acknowledged + cell.acknowledged.total as u64, lost + cell.losses.records)
    }))
}

fn of_all((acknowledged, lost): (u64, u64), what: &str) -> String {
    if lost == 0 {
        return format!("none of {} {what} records", count(acknowledged));
    }
    let share = 100.0 * lost as f64 / acknowledged.max(1) as f64;
    format!("{} of {} {what} records ({}%)", count(lost), count(acknowledged), significant(share))
}

/// What kills, lost disks and power losses cost these cells.
fn losses<'a>(cells: impl Iterator<Item = &'a Cell>) -> Losses {
    let mut losses = Losses::default();
    cells.for_each(|cell| losses.add(&cell.losses));
    losses
}

fn lightest(calm: &[CalmCell], acks: Acks, flushed: bool) -> Option<&CalmCell> {
    let of = calm.iter().filter(|cell| (cell.acks, cell.flushed) == (acks, flushed));
    of.min_by_key(|cell| cell.offered_per_s)
}

fn median(calm: &[CalmCell], acks: Acks, flushed: bool) -> Option<f64> {
    lightest(calm, acks, flushed)?.latency_ms.p50
}

fn latency(calm: &[CalmCell]) -> Option<String> {
    let (all, one) = (lightest(calm, Acks::All, false)?, lightest(calm, Acks::One, false)?);
    let mut took = vec![
        format!("acks=all took {} in the median{}", p50(all)?, p99(all)),
        format!("acks=1 {}{}", p50(one)?, p99(one)),
    ];
    let zero = lightest(calm, Acks::Zero, false);
    took.extend(zero.and_then(p50).map(|p50| format!("acks=0 {p50}")));
    let flushed = lightest(calm, Acks::All, true);
    let flushed =
        flushed.and_then(p50).map(|p50| format!("; acks=all with every batch flushed {p50}"));
    let offered = count(all.offered_per_s.into());
    Some(format!(
        "Without faults, at {offered} sends a second, {}{}.",
        took.join(", "),
        flushed.unwrap_or_default()
    ))
}

fn p50(cell: &CalmCell) -> Option<String> {
    cell.latency_ms.p50.map(|p50| significant(p50) + " ms")
}

/// Nothing where too few sends tell it.
fn p99(cell: &CalmCell) -> String {
    let told = |p99| format!(" ({} ms at p99)", significant(p99));
    cell.latency_ms.p99.map_or_else(String::new, told)
}

fn percent(part: f64) -> String {
    format!("{}%", significant(100.0 * part))
}

fn availability(cells: &[Cell], keep: impl Fn(&Setting) -> bool) -> Option<f64> {
    let found: Vec<f64> = cells
        .iter()
        .filter(|cell| keep(&cell.setting))
        .map(|cell| cell.availability.median)
        .collect();
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::model::Latency, *};
    use crate::compare::Spread;

    pub(super) fn cell(
        acks: Acks,
        min_isr: u32,
        unclean: bool,
        lost: u64,
        availability: f64,
    ) -> Cell {
        let one = |x: f64| Spread::of([x]);
        Cell {
            setting: Setting { acks, min_isr, unclean, flushed: false },
            runs: 1,
            acknowledged: one(1_000.0),
            lost: one(lost as f64),
            losses: Losses {
                records: lost,
                by_fault: [("kill of the leader at ISR 1".to_owned(), lost)].into(),
                ..Losses::default()
            },
            duplicates: 0,
            availability: one(availability),
            recovery_ms: one(0.0),
            exercised: BTreeMap::new(),
        }
    }

    fn of(cells: &[Cell], calm: &[CalmCell]) -> Vec<String> {
        let Advice { choice, findings } = super::of(&[cluster(&[], cells, calm)]);
        [choice, findings].concat()
    }

    fn cluster(differs: &[(&str, &str)], cells: &[Cell], calm: &[CalmCell]) -> Cluster {
        let differs = differs.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let (cells, calm) = (cells.to_vec(), calm.to_vec());
        Cluster { differs: differs.collect(), cells, calm, ..Cluster::default() }
    }

    #[test]
    fn another_kind_of_cluster_is_told_by_its_differences() {
        let one = |replicas, lost, availability| {
            let cells = [cell(Acks::All, 2, false, lost, availability)];
            cluster(&[("replication.factor", replicas)], &cells, &[])
        };
        let advice = super::of(&[one("3", 10, 0.5), one("1", 500, 0.25)]);
        assert_eq!(
            advice.findings.last().map(String::as_str),
            Some(
                "replication.factor=1 instead of replication.factor=3: acks=all with unclean \
                 election off lost 500 of 1,000 acknowledged records (50%) instead of 10 of 1,000 \
                 acknowledged records (1%), could be written 25% of the time under faults instead \
                 of 50%, and took not measured in the median instead of not measured."
            )
        );
    }

    pub(super) fn calm(acks: Acks, flushed: bool, p50: f64) -> CalmCell {
        CalmCell {
            acks,
            flushed,
            offered_per_s: 500,
            sends: 100,
            latency_ms: Latency { p50: Some(p50), p99: Some(2.0 * p50), p99_9: None },
            visible_ms: None,
            copies: Some(2.0),
            disk_bytes_per_byte: Some(3.0),
        }
    }

    #[test]
    fn costs_are_named_beside_what_they_buy() {
        let cells = [cell(Acks::All, 2, false, 0, 0.7), cell(Acks::All, 2, true, 40, 0.9)];
        let calm = [calm(Acks::All, false, 1.0), calm(Acks::One, false, 0.5)];
        let text = of(&cells, &calm).join("\n");
        assert!(
            text.contains("acks=all took 1 ms in the median (2 ms at p99), acks=1 0.5 ms (1 ms"),
            "{text}"
        );
        let more = [self::calm(Acks::Zero, false, 0.1), self::calm(Acks::All, true, 3.0)];
        let calm = [more, calm].concat();
        let text = of(&cells, &calm).join("\n");
        let rest = ", acks=0 0.1 ms; acks=all with every batch flushed 3 ms.";
        assert!(text.contains(rest), "{text}");
        let cells = [cell(Acks::All, 2, false, 0, 0.7), cell(Acks::One, 2, false, 50, 0.9)];
        let text = of(&cells, &calm).join("\n");
        assert!(
            text.contains("at acks=all, of 1,000 records kills cost none, lost disks"),
            "{text}"
        );
        assert!(
            text.contains("at acks=1, of 1,000 records kills cost 50, lost disks none"),
            "{text}"
        );
    }

    /// What too few sends tell is not told.
    #[test]
    fn a_quantile_that_nobody_knows_is_not_named() {
        let mut calm = [calm(Acks::All, false, 1.0), calm(Acks::One, false, 0.5)];
        calm[1].latency_ms.p99 = None;
        let took = "Without faults, at 500 sends a second, acks=all took 1 ms in the median (2 ms \
                    at p99), acks=1 0.5 ms.";
        assert_eq!(of(&[], &calm), [took]);
        calm[0].latency_ms.p50 = None;
        assert!(of(&[], &calm).is_empty());
    }

    #[test]
    fn nothing_is_advised_where_nothing_was_measured() {
        assert!(of(&[], &[]).is_empty());
    }
}
