//! What nothing permits: said before all that is advised.

use crate::{compare::comparison::Cluster, text::count};

/// The most cells that are named.
const NAMED: usize = 3;

/// Which cells lost what no clause permits; nothing where none did.
pub(super) fn sentence(clusters: &[Cluster]) -> Option<String> {
    let cells = clusters.iter().flat_map(|cluster| {
        let guilty = cluster.cells.iter().filter(|cell| cell.losses.forbidden > 0);
        guilty.map(move |cell| {
            let lost = count(cell.losses.forbidden);
            match cluster.differs.is_empty() {
                true => format!("{lost} at {}", cell.setting),
                false => format!("{lost} at {}, {}", cluster.name(), cell.setting),
            }
        })
    });
    let mut cells: Vec<String> = cells.collect();
    let more = cells.len().saturating_sub(NAMED);
    cells.truncate(NAMED);
    if more > 0 {
        cells.push(format!("and in {more} other cells"));
    }
    let cells = cells.join("; ");
    (!cells.is_empty()).then(|| {
        format!(
            "Invalid: records were lost that nothing permits to lose, so the verdict of a run in \
             which one was is invalid: {cells}."
        )
    })
}

#[cfg(test)]
mod tests {
    use highwater_history::event::Acks;

    use super::{super::tests::cell, *};
    use crate::compare::model::Cell;

    fn lost(min_isr: u32, forbidden: u64) -> Cell {
        let mut cell = cell(Acks::All, min_isr, false, 5, 0.5);
        cell.losses.forbidden = forbidden;
        cell
    }

    fn cluster(differs: &[(&str, &str)], cells: Vec<Cell>) -> Cluster {
        let differs = differs.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Cluster { differs: differs.collect(), cells, ..Cluster::default() }
    }

    #[test]
    fn a_forbidden_loss_is_told_first_with_its_cell_count_and_verdict() {
        let one = cluster(&[], vec![lost(1, 0), lost(2, 1_200)]);
        let advice = super::super::of(&[one]);
        assert_eq!(
            advice.choice[0],
            "Invalid: records were lost that nothing permits to lose, so the verdict of a run in \
             which one was is invalid: 1,200 at acks=all, min.insync.replicas=2, unclean election \
             off, no flush."
        );
    }

    #[test]
    fn what_is_permitted_is_not_called_invalid() {
        assert_eq!(sentence(&[cluster(&[], vec![lost(1, 0)])]), None);
        assert_eq!(sentence(&[]), None);
    }

    #[test]
    fn of_several_kinds_of_cluster_the_one_is_named_and_of_many_cells_a_few() {
        let good = cluster(&[("lag", "5")], vec![lost(1, 0)]);
        let bad = cluster(&[("lag", "9")], (1..=5).map(|min_isr| lost(min_isr, 2)).collect());
        let said = sentence(&[good, bad]).unwrap();
        assert!(said.contains("invalid: 2 at lag=9, acks=all, min.insync.replicas=1,"), "{said}");
        assert!(
            said.ends_with("replicas=3, unclean election off, no flush; and in 2 other cells.")
        );
    }
}
