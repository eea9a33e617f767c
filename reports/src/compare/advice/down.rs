//! How many replicas may lose power, in words.

use highwater_history::event::Acks;

use super::super::{
    model::{Controllers, DownCell},
    page::down::WRITABLE,
};
use crate::text::count;

/// Up to how many replicas could be down while acks=all was written, and what losing all of them
/// cost.
pub(super) fn sentence(cells: &[DownCell]) -> Option<String> {
    let all = cells.iter().map(|cell| cell.down).max()?;
    let durable =
        || cells.iter().filter(|cell| cell.setting.acks == Acks::All && !cell.setting.unclean);
    let written = |controllers: Controllers| {
        let each: Vec<String> = (1..=3)
            .filter_map(|min_isr| {
                let of: Vec<&DownCell> = durable()
                    .filter(|cell| cell.setting.min_isr == min_isr && !cell.setting.flushed)
                    .filter(|cell| cell.controllers == controllers)
                    .collect();
                let most = of.iter().filter(|cell| cell.availability >= WRITABLE);
                let most = most.map(|cell| cell.down).max().unwrap_or(0);
                (!of.is_empty()).then(|| format!("{most} at min.insync.replicas={min_isr}"))
            })
            .collect();
        (!each.is_empty()).then(|| each.join(", "))
    };
    let lost = |flushed: bool| -> u64 {
        let of = durable().filter(|cell| cell.down == all && cell.setting.flushed == flushed);
        of.filter(|cell| cell.controllers == Controllers::Separate).map(|cell| cell.lost).sum()
    };
    let mut sentence = format!(
        "With unclean election off, of {all} replicas so many could be without power while \
         acks=all was written: {}",
        written(Controllers::Separate)?
    );
    if let Some(combined) = written(Controllers::Combined) {
        sentence += &format!(" (with controllers combined with brokers {combined})");
    }
    sentence += &format!(
        "; losing power on all of them cost {} acknowledged records, {} where every batch is \
         flushed.",
        count(lost(false)),
        count(lost(true))
    );
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::{super::super::model::Setting, *};

    fn cell(min_isr: u32, down: u32, availability: f64, lost: u64, flushed: bool) -> DownCell {
        DownCell {
            setting: Setting { acks: Acks::All, min_isr, unclean: false, flushed },
            controllers: Controllers::Separate,
            down,
            availability,
            acknowledged: 100,
            lost,
        }
    }

    #[test]
    fn the_most_that_may_be_down_is_the_last_that_could_be_written() {
        let mut cells = vec![
            cell(1, 1, 1.0, 0, false),
            cell(1, 2, 0.99, 0, false),
            cell(1, 3, 0.0, 90, false),
            cell(1, 3, 0.0, 0, true),
            cell(2, 1, 1.0, 0, false),
            cell(2, 2, 0.0, 0, false),
        ];
        let combined = DownCell { controllers: Controllers::Combined, ..cells[0].clone() };
        cells.push(combined);
        assert_eq!(
            sentence(&cells).as_deref(),
            Some(
                "With unclean election off, of 3 replicas so many could be without power while \
                 acks=all was written: 2 at min.insync.replicas=1, 1 at min.insync.replicas=2 \
                 (with controllers combined with brokers 1 at min.insync.replicas=1); losing power \
                 on all of them cost 90 acknowledged records, 0 where every batch is flushed."
            )
        );
        assert_eq!(sentence(&[]), None);
    }
}
