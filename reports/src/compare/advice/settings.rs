//! What acks, min.insync.replicas, unclean election and flush cost and lose, each in a sentence.

use highwater_history::event::Acks;

use super::{availability, losses, median, of_all, percent, sum};
use crate::{
    compare::model::{ByKind, CalmCell, Cell, Setting},
    text::{count, significant},
};

pub(super) fn acks(cells: &[Cell]) -> Option<String> {
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

fn by_kind<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let kinds = losses(cells).by_kind();
    let [kills, disks, power] = [kinds.kills, kinds.disks, kinds.power]
        .map(|lost| if lost == 0 { "none".to_owned() } else { count(lost) });
    let other = match kinds.other {
        0 => String::new(),
        other => format!(", {} not told by what", count(other)),
    };
    format!("kills cost {kills}, lost disks {disks}, power losses {power}{other}")
}

pub(super) fn min_isr(cells: &[Cell]) -> Option<String> {
    let each: Vec<String> = (1..=3).filter_map(|min_isr| of_min_isr(cells, min_isr)).collect();
    (each.len() > 1).then(|| {
        let each = each.join("; ");
        format!("acks=all without a flush, unclean election off, by min.insync.replicas: {each}.")
    })
}

fn of_min_isr(cells: &[Cell], min_isr: u32) -> Option<String> {
    let keep =
        move |s: &Setting| s.acks == Acks::All && !s.unclean && !s.flushed && s.min_isr == min_isr;
    let lost = of_all(sum(cells, keep)?, "acknowledged");
    let written = percent(availability(cells, keep)?);
    Some(format!("{min_isr} could be written {written} of the time under faults and lost {lost}"))
}

/// What one kind of fault cost of the records that were acknowledged.
fn part(lost: u64, acknowledged: u64) -> String {
    match lost {
        0 => "none".to_owned(),
        _ => format!("{} ({})", count(lost), percent(share(lost, acknowledged))),
    }
}

fn share(lost: u64, acknowledged: u64) -> f64 {
    lost as f64 / acknowledged.max(1) as f64
}

/// By kind of fault: what it loses to one it saves from another.
pub(super) fn unclean(cells: &[Cell]) -> Option<String> {
    let of = |unclean| {
        let keep = move |s: &Setting| s.acks == Acks::All && s.unclean == unclean;
        let (acknowledged, _) = sum(cells, keep)?;
        let kinds = losses(cells.iter().filter(|cell| keep(&cell.setting))).by_kind();
        Some((percent(availability(cells, keep)?), acknowledged, kinds))
    };
    let ((written, acknowledged, on), (usual_written, usual_acknowledged, off)) =
        (of(true)?, of(false)?);
    let cost = |kind: fn(&ByKind) -> u64| {
        let (on, off) = (part(kind(&on), acknowledged), part(kind(&off), usual_acknowledged));
        format!("{on} instead of {off}")
    };
    let more = |kind: fn(&ByKind) -> u64| {
        share(kind(&on), acknowledged) > share(kind(&off), usual_acknowledged)
    };
    let mut sentence = format!(
        "With unclean election on, acks=all could be written {written} of the time under faults \
         instead of {usual_written}; of {} acknowledged records instead of {} kills cost {}, lost \
         disks {}, power losses {}.",
        count(acknowledged),
        count(usual_acknowledged),
        cost(|kinds| kinds.kills),
        cost(|kinds| kinds.disks),
        cost(|kinds| kinds.power),
    );
    if more(|kinds| kinds.kills) {
        sentence += " On loses more to kills: a replica that lags is elected.";
    }
    if share(off.disks + off.power, usual_acknowledged) > share(on.disks + on.power, acknowledged) {
        sentence += " Off loses more to disks and power: a leader that was alone in the ISR comes \
                     back without its records and the others follow it, where on elects another \
                     that still has them.";
    }
    Some(sentence)
}

pub(super) fn flush(cells: &[Cell], calm: &[CalmCell]) -> Option<String> {
    let (cached, flushed) = (median(calm, Acks::All, false)?, median(calm, Acks::All, true)?);
    let power = |unclean, flushed| {
        let keep =
            move |s: &Setting| s.acks == Acks::All && s.unclean == unclean && s.flushed == flushed;
        sum(cells, keep)?;
        Some(losses(cells.iter().filter(|cell| keep(&cell.setting))).by_kind().power)
    };
    let cost = |unclean| Some((power(unclean, true)?, power(unclean, false)?));
    let (with, without) = cost(false)?;
    let mut sentence = format!(
        "Flushing every batch made acks=all take {} ms in the median instead of {} ms; with \
         unclean election off power losses then cost {} acknowledged records instead of {}",
        significant(flushed),
        significant(cached),
        count(with),
        count(without),
    );
    if let Some((with, without)) = cost(true) {
        sentence += &format!(", with it on {} instead of {}", count(with), count(without));
        if with > 0 {
            sentence += ": it loses by a power loss what it loses by a kill";
        }
    }
    Some(sentence + ".")
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{calm, cell},
        *,
    };

    #[test]
    fn a_flush_is_told_for_unclean_election_off_and_on() {
        let lost = |unclean, flushed, lost| {
            let mut cell = cell(Acks::All, 2, unclean, lost, 0.5);
            cell.setting.flushed = flushed;
            cell.losses.by_fault = [("power-loss of the leader at ISR 1".to_owned(), lost)].into();
            cell
        };
        let cells = [
            lost(false, false, 70),
            lost(false, true, 0),
            lost(true, false, 30),
            lost(true, true, 20),
        ];
        let calm = [calm(Acks::All, false, 1.0), calm(Acks::All, true, 2.0)];
        assert_eq!(
            flush(&cells, &calm).as_deref(),
            Some(
                "Flushing every batch made acks=all take 2 ms in the median instead of 1 ms; with \
                 unclean election off power losses then cost 0 acknowledged records instead of 70, \
                 with it on 20 instead of 30: it loses by a power loss what it loses by a kill."
            )
        );
    }

    #[test]
    fn availability_and_losses_by_min_isr_are_of_the_same_cells() {
        let mut flushed = cell(Acks::All, 1, false, 0, 1.0);
        flushed.setting.flushed = true;
        let cells =
            [cell(Acks::All, 1, false, 30, 0.5), flushed, cell(Acks::All, 2, false, 0, 0.25)];
        assert_eq!(
            min_isr(&cells).as_deref(),
            Some(
                "acks=all without a flush, unclean election off, by min.insync.replicas: 1 could \
                 be written 50% of the time under faults and lost 30 of 1,000 acknowledged records \
                 (3%); 2 could be written 25% of the time under faults and lost none of 1,000 \
                 acknowledged records."
            )
        );
    }

    #[test]
    fn an_unclean_election_is_told_by_kind_of_fault_with_the_reason() {
        let mut off = cell(Acks::All, 2, false, 300, 0.25);
        off.losses.by_fault = [("wipe of the leader at ISR 1".to_owned(), 300)].into();
        let mut on = cell(Acks::All, 2, true, 50, 0.5);
        on.losses.by_fault.insert("wipe of the leader at ISR 1".to_owned(), 10);
        let told = unclean(&[off.clone(), on]).unwrap();
        assert!(
            told.starts_with(
                "With unclean election on, acks=all could be written 50% of the time under faults \
                 instead of 25%; of 1,000 acknowledged records instead of 1,000 kills cost 50 (5%) \
                 instead of none, lost disks 10 (1%) instead of 300 (30%), power losses none \
                 instead of none."
            ),
            "{told}"
        );
        assert!(told.contains("On loses more to kills"), "{told}");
        assert!(told.contains("Off loses more to disks and power"), "{told}");
        let mut same = off.clone();
        same.setting.unclean = true;
        let told = unclean(&[off, same]).unwrap();
        assert!(!told.contains("loses more"), "{told}");
    }

    #[test]
    fn what_nobody_told_the_cause_of_is_counted_too() {
        let mut told = cell(Acks::All, 2, false, 3, 0.5);
        told.losses.by_fault = [("not told".to_owned(), 3)].into();
        let sentence = acks(&[told]).unwrap();
        assert!(sentence.ends_with("power losses none, 3 not told by what."), "{sentence}");
    }
}
