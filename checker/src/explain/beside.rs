//! What a finding stands on beside the history: dumps, samples, metadata records, the outcome.

use highwater_history::{
    Event, EventValue, Offset, Value,
    dump_folder::DumpFile,
    dumps::{DumpBatch, Moment},
    samples::{Said, Sample},
    verdict::Finding,
};

use super::{Beside, cut, minimise, probe::Probe, unit::Unit};
use crate::{Evidence, replicas::batch_at};

/// A piece of evidence by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Metadata(usize),
    Sample(usize),
    Dump(usize),
    Outcome,
    /// A session, by its position among what stands beside the operations.
    Session(usize),
}

/// The header of a file of lines, and positions that begin at 0.
const FIRST_LINE: usize = 2;

/// Every piece without which the claim does not find the same in the same words.
pub(super) fn of(probe: &mut Probe<'_>, least: &[Unit]) -> Vec<Beside> {
    let Some(found) = probe.found(least) else { return Vec::new() };
    let mut all = all(probe.evidence);
    // Where no operation shows it, sessions may.
    let sessions: Vec<Piece> = match least {
        [] => sessions(probe.surroundings),
        _ => Vec::new(),
    };
    all.extend(&sessions);
    let pieces = minimise::items(all, |pieces| {
        if probe.has_given_up() {
            return None;
        }
        probe.spend(least.len());
        let mut evidence = only(probe.evidence, pieces);
        let stays = |piece: &Piece| !sessions.contains(piece) || pieces.contains(piece);
        let kept = (0..probe.surroundings.len()).filter(|nth| stays(&Piece::Session(*nth)));
        let kept: Vec<Event> = kept.map(|nth| probe.surroundings[nth].clone()).collect();
        let again = probe.with(&mut evidence, &kept).found(least);
        Some(again.is_some_and(|again| again.why == found.why))
    });
    pieces.iter().flat_map(|piece| told(probe, *piece, &found)).collect()
}

fn sessions(surroundings: &[Event]) -> Vec<Piece> {
    let is_session = |nth: &usize| matches!(surroundings[*nth].value, EventValue::Open(_));
    (0..surroundings.len()).filter(is_session).map(Piece::Session).collect()
}

/// What most findings do without comes first.
fn all(evidence: &Evidence) -> Vec<Piece> {
    let metadata = (0..evidence.metadata.len()).map(Piece::Metadata);
    let samples = (0..evidence.samples.len()).map(Piece::Sample);
    let dumps = (0..evidence.dumps.len()).map(Piece::Dump);
    let outcome = evidence.outcome.iter().map(|_| Piece::Outcome);
    metadata.chain(samples).chain(dumps).chain(outcome).collect()
}

fn only(evidence: &Evidence, pieces: &[Piece]) -> Evidence {
    let mut cut = cut::without_lines(evidence);
    cut.outcome = None;
    for piece in pieces {
        match piece {
            Piece::Metadata(nth) => cut.metadata.push(evidence.metadata[*nth].clone()),
            Piece::Sample(nth) => cut.samples.push(evidence.samples[*nth].clone()),
            Piece::Dump(nth) => cut.dumps.push(evidence.dumps[*nth].clone()),
            Piece::Outcome => cut.outcome.clone_from(&evidence.outcome),
            Piece::Session(_) => {}
        }
    }
    cut
}

fn told(probe: &Probe<'_>, piece: Piece, found: &Finding) -> Vec<Beside> {
    let evidence: &Evidence = probe.evidence;
    match piece {
        Piece::Session(nth) => {
            let Event { index, value, .. } = &probe.surroundings[nth];
            let session = serde_json::to_string(value).expect("a session is plain JSON");
            vec![beside("history", None, format!("event {index}, open {session}"))]
        }
        Piece::Metadata(nth) => {
            let record = &evidence.metadata[nth];
            let says = format!("record {}, {} {}", record.offset, record.kind, record.fields);
            vec![beside("metadata.jsonl", Some(nth), says)]
        }
        Piece::Sample(nth) => {
            vec![beside("samples.jsonl", Some(nth), sample(&evidence.samples[nth]))]
        }
        Piece::Dump(nth) => dump(evidence, &evidence.dumps[nth], found),
        Piece::Outcome => {
            let says = "how the run ended: recovery, final leaders, how far the final read came";
            vec![beside("outcome.json", None, says.to_owned())]
        }
    }
}

fn beside(file: &str, nth: Option<usize>, says: String) -> Beside {
    Beside { file: file.to_owned(), line: nth.map(|nth| nth + FIRST_LINE), says }
}

fn sample(sample: &Sample) -> String {
    let mark = |name: &str, mark: Option<Offset>| {
        mark.map_or_else(String::new, |mark| format!(", {name} {mark}"))
    };
    let said = match &sample.said {
        Said::Silent { error } => format!("no answer ({error})"),
        Said::Replica(state) => {
            let leads = state.leads.map_or("", |leads| if leads { " leads" } else { " follows" });
            let epoch = state.leader_epoch.map_or_else(String::new, |e| format!(" epoch {e}"));
            let marks = [
                mark("log start", state.log_start),
                mark("LSO", state.lso),
                mark("HW", state.hw),
                mark("LEO", state.leo),
            ];
            format!("{}{leads}{epoch}{}", state.key, marks.concat())
        }
        Said::Partition(state) => format!(
            "{} led by {} in epoch {}, ISR {:?}",
            state.key,
            state.leader.map_or("nobody".to_owned(), |leader| format!("node {leader}")),
            state.leader_epoch,
            state.isr
        ),
    };
    format!("node {}, asked at {} ns: {said}", sample.node, sample.asked)
}

/// What a dump holds of a finding: the batch at its offset, and those with its value. Where it
/// holds neither, that is what it says.
fn dump(evidence: &Evidence, file: &DumpFile, found: &Finding) -> Vec<Beside> {
    let (name, dump) = file;
    let header = &dump.header;
    let moment = match header.moment {
        Moment::BeforeRestart => "before a restart",
        Moment::BeforeHeal => "before a heal",
        Moment::Final => "at the end",
    };
    let whose = format!("{} on node {} {moment}", header.key, header.node);
    let path = |name: &std::path::Path| format!("dumps/{}", name.display());
    let end = dump.lines.last().map_or(header.from, DumpBatch::end);
    let batches = of_finding(&dump.lines, found);
    if batches.is_empty() {
        let says = match found.offset {
            Some(offset) if offset < end => format!("{whose}: nothing at {offset}"),
            Some(_) | None => format!("{whose}: ends at {end}"),
        };
        return vec![Beside { file: path(name), line: None, says }];
    }
    let of_batch = |batch: &DumpBatch| {
        let (file, line) = line_of(evidence, file, batch.base_offset);
        Beside { file: path(file), line, says: format!("{whose}: {}", describe(batch)) }
    };
    batches.into_iter().map(of_batch).collect()
}

fn of_finding<'a>(lines: &'a [DumpBatch], found: &Finding) -> Vec<&'a DumpBatch> {
    let holds = |batch: &&DumpBatch| {
        found.value.is_some_and(|value| batch.records().any(|(_, held)| held == Some(value)))
    };
    let mut batches: Vec<&DumpBatch> = lines.iter().filter(holds).collect();
    batches.extend(found.offset.and_then(|offset| batch_at(lines, offset)));
    batches.sort_by_key(|batch| batch.base_offset);
    batches.dedup_by_key(|batch| batch.base_offset);
    batches
}

fn describe(batch: &DumpBatch) -> String {
    let values: Vec<Option<Value>> = batch.records().map(|(_, value)| value).collect();
    let values = match &values[..] {
        [] => String::new(),
        [Some(value)] => format!(", value {value}"),
        [None] => ", a payload that cannot be read".to_owned(),
        [first, .., last] => {
            let name = |value: &Option<Value>| value.map_or("?".to_owned(), |v| v.to_string());
            format!(", values {} to {}", name(first), name(last))
        }
    };
    let producer = match batch.producer_id {
        -1 => String::new(),
        id => format!(", producer {id}.{}.{}", batch.producer_epoch, batch.sequence),
    };
    let (from, to) = (batch.base_offset, batch.last_offset);
    let offsets = if from == to { format!("offset {from}") } else { format!("{from} to {to}") };
    format!("{offsets}, epoch {}{values}{producer}", batch.epoch)
}

/// Where a batch stands: in the dump itself, or in the one that the dump says it is the same as.
fn line_of<'a>(
    evidence: &'a Evidence,
    (name, dump): &'a DumpFile,
    base_offset: Offset,
) -> (&'a std::path::Path, Option<usize>) {
    let position = |lines: &[DumpBatch]| {
        lines.binary_search_by_key(&base_offset, |batch| batch.base_offset).ok()
    };
    let nth = position(&dump.lines);
    match &dump.header.same_as {
        None => (name, nth.map(|nth| nth + FIRST_LINE)),
        Some(same) if base_offset < same.to => {
            let other = evidence.dumps.iter().find(|(name, _)| *name == same.file);
            let nth = other.and_then(|(_, other)| position(&other.lines));
            (&same.file, nth.map(|nth| nth + FIRST_LINE))
        }
        Some(same) => {
            let shared = dump.lines.partition_point(|batch| batch.base_offset < same.to);
            (name, nth.map(|nth| nth - shared + FIRST_LINE))
        }
    }
}
