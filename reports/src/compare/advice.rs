//! What to choose, in sentences computed from the figures.

mod down;

use std::cmp::Reverse;

use highwater_history::event::Acks;

use super::{
    comparison::Cluster,
    model::{ByKind, CalmCell, Cell, Losses, Setting},
};
use crate::text::{count, significant};

/// One sentence a choice: what it costs and what it lost; of several kinds of cluster the first
/// speaks for itself, the others of how they differ from it.
pub(super) fn of(clusters: &[Cluster]) -> Vec<String> {
    let Some((first, others)) = clusters.split_first() else { return Vec::new() };
    let (cells, calm) = (&first.cells, &first.calm);
    let mut sentences = Vec::new();
    sentences.extend(choice(cells));
    sentences.extend(acks_levels(cells));
    sentences.extend(latency(calm));
    sentences.extend(floor(cells));
    sentences.extend(down::sentence(&first.down));
    sentences.extend(unclean(cells));
    sentences.extend(flush(cells, calm));
    sentences.extend(others.iter().filter_map(|other| instead(first, other)));
    sentences
}

/// What another kind of cluster costs and loses at acks=all without unclean elections.
fn instead(first: &Cluster, other: &Cluster) -> Option<String> {
    let durable = |s: &Setting| s.acks == Acks::All && !s.unclean;
    let figures = |cluster: &Cluster| {
        let lost = of_all(sum(&cluster.cells, durable)?, "acknowledged");
        let written = percent(availability(&cluster.cells, durable)?);
        let took = lightest(&cluster.calm, Acks::All, false);
        let took = took.map(|cell| significant(cell.latency_ms.p50) + " ms");
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

fn acks_levels(cells: &[Cell]) -> Option<String> {
    let usual = |acks| {
        let keep = move |s: &Setting| s.acks == acks && !s.unclean && s.min_isr == 2;
        let (acknowledged, _) = sum(cells, keep)?;
        let costs = by_kind(cells.iter().filter(|cell| keep(&cell.setting)));
        Some(format!("of {} records {}", count(acknowledged), costs))
    };
    let mut sentence = format!(
        "With min.insync.replicas=2 and unclean election off: at acks=all, {}",
        usual(Acks::All)?
    );
    if let Some(one) = usual(Acks::One) {
        sentence += &format!("; at acks=1, {one}");
    }
    if let Some(zero) = sum(cells, |s| s.acks == Acks::Zero && !s.unclean && s.min_isr == 2) {
        sentence += &format!("; at acks=0, {} are gone", of_all(zero, "sent"));
    }
    Some(sentence + ".")
}

/// What kills, lost disks and power losses cost these cells.
fn by_kind<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let mut losses = Losses::default();
    cells.for_each(|cell| losses.add(&cell.losses));
    let kinds = losses.by_kind();
    let [kills, disks, power] = [kinds.kills, kinds.disks, kinds.power]
        .map(|lost| if lost == 0 { "none".to_owned() } else { count(lost) });
    format!("kills cost {kills}, lost disks {disks}, power losses {power}")
}

fn lightest(calm: &[CalmCell], acks: Acks, flushed: bool) -> Option<&CalmCell> {
    let of = calm.iter().filter(|cell| (cell.acks, cell.flushed) == (acks, flushed));
    of.min_by_key(|cell| cell.offered_per_s)
}

fn latency(calm: &[CalmCell]) -> Option<String> {
    let (all, one) = (lightest(calm, Acks::All, false)?, lightest(calm, Acks::One, false)?);
    Some(format!(
        "Without faults, at {} sends a second, acks=all took {} ms in the median and {} ms at p99, \
         acks=1 {} and {} ms.",
        count(all.offered_per_s.into()),
        significant(all.latency_ms.p50),
        significant(all.latency_ms.p99),
        significant(one.latency_ms.p50),
        significant(one.latency_ms.p99),
    ))
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

fn floor(cells: &[Cell]) -> Option<String> {
    let at = |min_isr| {
        availability(cells, |s| s.acks == Acks::All && !s.unclean && s.min_isr == min_isr)
    };
    let lost = |min_isr| {
        sum(cells, |s| s.acks == Acks::All && !s.unclean && s.min_isr == min_isr && !s.flushed)
    };
    let floors: Vec<u32> = (1..=3).filter(|min_isr| at(*min_isr).is_some()).collect();
    let each: Vec<String> = floors
        .iter()
        .filter_map(|min_isr| {
            let (part, lost) = (percent(at(*min_isr)?), lost(*min_isr)?.1);
            Some(format!("{min_isr}: {part} of the time under faults, {} lost", count(lost)))
        })
        .collect();
    (each.len() > 1).then(|| {
        let each = each.join("; ");
        format!(
            "acks=all with unclean election off could be written, by min.insync.replicas, {each}."
        )
    })
}

fn unclean(cells: &[Cell]) -> Option<String> {
    let at = |unclean| availability(cells, |s| s.acks == Acks::All && s.unclean == unclean);
    let lost = |unclean| sum(cells, |s| s.acks == Acks::All && s.unclean == unclean);
    Some(format!(
        "Unclean election on: acks=all could be written {} of the time under faults instead of {}, \
         and lost {}; off it lost {}.",
        percent(at(true)?),
        percent(at(false)?),
        of_all(lost(true)?, "acknowledged"),
        of_all(lost(false)?, "acknowledged"),
    ))
}

fn power_losses(cells: &[Cell], flushed: bool) -> u64 {
    let durable = |s: &Setting| s.acks == Acks::All && !s.unclean && s.flushed == flushed;
    let of = cells.iter().filter(|cell| durable(&cell.setting));
    of.map(|cell| cell.losses.by_kind().power).sum()
}

fn flush(cells: &[Cell], calm: &[CalmCell]) -> Option<String> {
    let (cached, flushed) = (lightest(calm, Acks::All, false)?, lightest(calm, Acks::All, true)?);
    sum(cells, |s| s.acks == Acks::All && s.flushed)?;
    Some(format!(
        "Flushing every batch made acks=all take {} ms in the median instead of {} ms; power loss \
         then cost {} acknowledged records, and {} where nothing is flushed.",
        significant(flushed.latency_ms.p50),
        significant(cached.latency_ms.p50),
        count(power_losses(cells, true)),
        count(power_losses(cells, false)),
    ))
}

/// Which losses count.
type Counted = fn(ByKind) -> u64;

/// What to choose when kills must lose nothing, power losses neither, lost disks neither.
fn choice(cells: &[Cell]) -> Vec<String> {
    // What acks=1 did not lose this time it may lose the next.
    if !cells.iter().any(|cell| cell.setting.acks == Acks::All) {
        return Vec::new();
    }
    let levels: [(&str, Counted); 3] = [
        ("kills", |lost| lost.kills + lost.other),
        ("kills and power losses", |lost| lost.kills + lost.power + lost.other),
        ("kills, power losses and lost disks", |lost| {
            lost.kills + lost.power + lost.disks + lost.other
        }),
    ];
    let each = levels.iter();
    each.map(|(name, lost)| format!("To lose nothing by {name}: {}.", safest(cells, *lost)))
        .collect()
}

/// Of the acks=all cells that lost nothing, counted by `lost`, the one that could be written most;
/// one without unclean election where there is any, since c.1.1 lets the others lose.
fn safest(cells: &[Cell], lost: Counted) -> String {
    let safe = cells.iter().filter(|cell| {
        let counts = cell.setting.acks == Acks::All && cell.acknowledged.total > 0.0;
        counts && lost(cell.losses.by_kind()) == 0
    });
    // Of those that can hardly be told apart the one that asks for less.
    let rank = |cell: &Cell| (100.0 * cell.availability.median).round() as u64;
    let best = safe.max_by_key(|cell| {
        (!cell.setting.unclean, rank(cell), !cell.setting.flushed, Reverse(cell.setting.min_isr))
    });
    best.map_or("no setting did".to_owned(), |best| {
        let luck = match best.setting.unclean {
            true => ", and the next unclean election may lose what these did not",
            false => "",
        };
        format!(
            "{}; it could be written {} of the time under faults{luck}",
            best.setting,
            percent(best.availability.median)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::model::Latency, *};
    use crate::compare::Spread;

    fn cell(acks: Acks, min_isr: u32, unclean: bool, lost: u64, availability: f64) -> Cell {
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
        super::of(&[cluster(&[], cells, calm)])
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
            advice.last().map(String::as_str),
            Some(
                "replication.factor=1 instead of replication.factor=3: acks=all with unclean \
                 election off lost 500 of 1,000 acknowledged records (50%) instead of 10 of 1,000 \
                 acknowledged records (1%), could be written 25% of the time under faults instead \
                 of 50%, and took not measured in the median instead of not measured."
            )
        );
    }

    fn calm(acks: Acks, flushed: bool, p50: f64) -> CalmCell {
        CalmCell {
            acks,
            flushed,
            offered_per_s: 500,
            sends: 100,
            latency_ms: Latency { p50, p99: 2.0 * p50, p99_9: 3.0 * p50 },
            visible_ms: None,
            copies: Some(2.0),
            disk_bytes_per_byte: Some(3.0),
        }
    }

    #[test]
    fn the_choice_is_the_most_available_of_those_that_lost_nothing() {
        let cells = [
            cell(Acks::All, 1, false, 3, 0.9),
            cell(Acks::All, 2, false, 0, 0.7),
            cell(Acks::All, 3, false, 0, 0.4),
            cell(Acks::One, 2, false, 50, 0.95),
        ];
        let advice = of(&cells, &[]);
        let text = advice.join("\n");
        assert!(
            text.contains("at acks=all, of 1,000 records kills cost none, lost disks"),
            "{text}"
        );
        assert!(
            text.contains("at acks=1, of 1,000 records kills cost 50, lost disks none"),
            "{text}"
        );
        let choice = "To lose nothing by kills: acks=all, min.insync.replicas=2, unclean election \
                      off, no flush; it could be written 70% of the time under faults.";
        assert!(text.contains(choice), "{text}");
        let alike = [cell(Acks::All, 1, false, 0, 0.5), cell(Acks::All, 2, false, 0, 0.504)];
        let text = of(&alike, &[]).join("\n");
        assert!(text.contains("by kills: acks=all, min.insync.replicas=1,"), "{text}");
    }

    /// c.1.1: what an unclean election did not lose this time it may lose the next.
    #[test]
    fn an_unclean_election_is_chosen_only_where_nothing_else_will_do() {
        let mut cells = vec![cell(Acks::All, 2, true, 0, 0.9), cell(Acks::All, 2, false, 0, 0.7)];
        let text = of(&cells, &[]).join("\n");
        assert!(text.contains("kills: acks=all, min.insync.replicas=2, unclean election off"));
        cells.pop();
        let text = of(&cells, &[]).join("\n");
        let choice = "kills: acks=all, min.insync.replicas=2, unclean election on, no flush; it \
                      could be written 90% of the time under faults, and the next unclean election \
                      may lose what these did not.";
        assert!(text.contains(choice), "{text}");
    }

    #[test]
    fn costs_are_named_beside_what_they_buy() {
        let cells = [cell(Acks::All, 2, false, 0, 0.7), cell(Acks::All, 2, true, 40, 0.9)];
        let calm = [calm(Acks::All, false, 1.0), calm(Acks::One, false, 0.5)];
        let text = of(&cells, &calm).join("\n");
        assert!(
            text.contains("acks=all took 1 ms in the median and 2 ms at p99, acks=1 0.5"),
            "{text}"
        );
        assert!(text.contains("written 90% of the time under faults instead of 70%"), "{text}");
        assert!(text.contains("lost 40 of 1,000 acknowledged records (4%)"), "{text}");
    }

    #[test]
    fn nothing_is_advised_where_nothing_was_measured() {
        assert!(of(&[], &[]).is_empty());
    }
}
