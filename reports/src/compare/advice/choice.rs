//! What to choose when kills must lose nothing, power losses neither, lost disks neither.

use highwater_history::event::Acks;

use super::percent;
use crate::{
    compare::{
        model::{ByKind, Cell},
        spread::Spread,
    },
    text::significant,
};

/// Which losses count.
type Counted = fn(ByKind) -> u64;

/// From the least to the most that must lose nothing.
const LEVELS: [(&str, Counted); 3] = [
    ("kills", |lost| lost.kills + lost.other),
    ("kills and power losses", |lost| lost.kills + lost.power + lost.other),
    ("kills, power losses and lost disks", |lost| {
        lost.kills + lost.power + lost.disks + lost.other
    }),
];

pub(super) fn sentences(cells: &[Cell]) -> Vec<String> {
    // What acks=1 did not lose this time it may lose the next.
    if !cells.iter().any(|cell| cell.setting.acks == Acks::All) {
        return Vec::new();
    }
    let each = LEVELS.iter();
    each.map(|(name, lost)| format!("To lose nothing by {name}: {}.", said(safest(cells, *lost))))
        .collect()
}

/// Of the acks=all cells that lost nothing, counted by `lost`, one that could be written most; one
/// without unclean election where there is any, since c.1.1 lets the others lose. Of those that
/// cannot be told apart by that, the one that asks for less.
fn safest(cells: &[Cell], lost: Counted) -> Option<&Cell> {
    let safe = || {
        cells.iter().filter(|cell| {
            let counts = cell.setting.acks == Acks::All && cell.acknowledged.total > 0.0;
            counts && lost(cell.losses.by_kind()) == 0
        })
    };
    let unclean = safe().all(|cell| cell.setting.unclean);
    let safe = || safe().filter(|cell| cell.setting.unclean == unclean);
    let most = safe().max_by(|a, b| a.availability.median.total_cmp(&b.availability.median))?;
    let alike = safe().filter(|cell| are_alike(&cell.availability, &most.availability));
    alike.min_by_key(|cell| (cell.setting.flushed, cell.setting.min_isr))
}

/// Whether two spreads overlap, or differ by less than a percent of the time.
fn are_alike(one: &Spread, other: &Spread) -> bool {
    one.overlaps(other) || (one.median - other.median).abs() < 0.01
}

fn said(safest: Option<&Cell>) -> String {
    let Some(safest) = safest else { return "no setting did".to_owned() };
    let luck = match safest.setting.unclean {
        true => ", and the next unclean election may lose what these did not",
        false => "",
    };
    let Spread { min, median, max, .. } = safest.availability;
    let runs = match min < max {
        true => format!(" ({} to {} by run)", significant(100.0 * min), percent(max)),
        false => String::new(),
    };
    let (setting, written) = (&safest.setting, percent(median));
    format!("{setting}; it could be written {written} of the time under faults{runs}{luck}")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::cell, *};

    fn by_kills(cells: &[Cell]) -> String {
        sentences(cells).swap_remove(0)
    }

    #[test]
    fn the_choice_is_the_most_available_of_those_that_lost_nothing() {
        let cells = [
            cell(Acks::All, 1, false, 3, 0.9),
            cell(Acks::All, 2, false, 0, 0.7),
            cell(Acks::All, 3, false, 0, 0.4),
            cell(Acks::One, 2, false, 50, 0.95),
        ];
        assert_eq!(
            by_kills(&cells),
            "To lose nothing by kills: acks=all, min.insync.replicas=2, unclean election off, no \
             flush; it could be written 70% of the time under faults."
        );
        let alike = [cell(Acks::All, 2, false, 0, 0.504), cell(Acks::All, 1, false, 0, 0.5)];
        let text = by_kills(&alike);
        assert!(text.contains("by kills: acks=all, min.insync.replicas=1,"), "{text}");
    }

    /// A kill does not ask whether anything was flushed.
    #[test]
    fn of_spreads_that_overlap_the_one_that_asks_for_less_is_chosen() {
        let spread = |min_isr, flushed, runs: [f64; 3]| {
            let mut cell = cell(Acks::All, min_isr, false, 0, 0.0);
            cell.setting.flushed = flushed;
            cell.availability = Spread::of(runs);
            cell
        };
        let flushed = spread(1, true, [0.209, 0.308, 0.313]);
        let cells = [flushed.clone(), spread(1, false, [0.206, 0.234, 0.234])];
        let text = by_kills(&cells);
        assert!(text.contains("no flush; it could be written 23.4% of the time"), "{text}");
        assert!(text.ends_with("(20.6 to 23.4% by run)."), "{text}");
        let apart = [flushed, spread(1, false, [0.1, 0.15, 0.2])];
        let text = by_kills(&apart);
        assert!(text.contains("every batch flushed; it could be written 30.8%"), "{text}");
    }

    /// c.1.1: what an unclean election did not lose this time it may lose the next.
    #[test]
    fn an_unclean_election_is_chosen_only_where_nothing_else_will_do() {
        let mut cells = vec![cell(Acks::All, 2, true, 0, 0.9), cell(Acks::All, 2, false, 0, 0.7)];
        let text = by_kills(&cells);
        assert!(text.contains("kills: acks=all, min.insync.replicas=2, unclean election off"));
        cells.pop();
        let text = by_kills(&cells);
        let choice = "kills: acks=all, min.insync.replicas=2, unclean election on, no flush; it \
                      could be written 90% of the time under faults, and the next unclean election \
                      may lose what these did not.";
        assert!(text.contains(choice), "{text}");
    }
}
