//! The window of a finding: events around it, one a row.

use highwater_history::{
    Event, EventValue, Key,
    event::{Ack, EventError, MicroOp, Process, ReadRecord},
    verdict::Finding,
};
use maud::{Markup, html};

use crate::{
    parts,
    run::Shown,
    text::{count, instant},
};

/// Records of a poll that are shown on each side of the one in question.
const NEIGHBOURS: usize = 3;

/// The events around a finding; nothing when it points at none.
pub(super) fn window(shown: &Shown) -> Markup {
    if shown.window.events.is_empty() {
        return html! {};
    }
    let key = shown.finding.key.as_ref();
    let on = key.map(|key| format!(" on {key}")).unwrap_or_default();
    let caption = format!("Operations around it{on}; marked rows are those it points at");
    let heads = [
        ("num", "Index"),
        ("num", "Time"),
        ("", "Process"),
        ("", "Type"),
        ("", "Operation"),
        ("", "Node"),
        ("", "Error"),
    ];
    let rows = html! {
        @for (event, hit) in shown.window.events.values() { (row(event, *hit, &shown.finding)) }
    };
    parts::table("ops", &caption, &heads, &rows)
}

fn row(event: &Event, hit: bool, finding: &Finding) -> Markup {
    let nemesis = event.process == Process::Nemesis;
    let class = [(hit, "hit"), (nemesis, "nemesis")].into_iter().find(|(is, _)| *is);
    let kind = event.kind.as_str();
    html! {
        tr class=[class.map(|(_, class)| class)] {
            td class="num" { (event.index) }
            td class="num" { (instant(event.time)) }
            td { (process(&event.process)) }
            td class={ "outcome-" (kind) } { (kind) }
            td { (operation(event, finding, hit)) }
            td { @if let Some(node) = event.node { (node) } }
            td { (error(event)) }
        }
    }
}

fn process(process: &Process) -> String {
    match process {
        Process::Client(number) => number.to_string(),
        Process::Nemesis => "nemesis".to_owned(),
        Process::Harness => "harness".to_owned(),
        Process::Other(name) => name.to_string(),
    }
}

/// What was done, as far as it concerns the finding's key; all of it when the finding points at the
/// operation and none of it does.
pub(super) fn operation(event: &Event, finding: &Finding, hit: bool) -> String {
    let f = event.f.as_str();
    let what = match &event.value {
        EventValue::None => String::new(),
        EventValue::Ops(ops) => {
            let on_key = ops_text(ops, finding);
            let of_all = Finding { key: None, ..finding.clone() };
            if on_key.is_empty() && hit { ops_text(ops, &of_all) } else { on_key }
        }
        EventValue::Keys(keys) => joined(keys),
        EventValue::Offsets(offsets) => {
            let texts = offsets.iter().map(|(key, offset)| format!("{key} at {offset}"));
            texts.collect::<Vec<_>>().join(", ")
        }
        EventValue::Open(open) => format!("client {}", open.client),
        EventValue::OpenTopic(open) => open.key.to_string(),
        EventValue::Other(value) => brief(value),
    };
    format!("{f} {what}").trim_end().to_owned()
}

/// What a fault says of itself without what fills pages: the section on faults tells the rest.
fn brief(value: &serde_json::Value) -> String {
    let Some(fields) = value.as_object() else { return value.to_string() };
    let brief = fields.iter().filter(|(name, _)| !["rules", "proof"].contains(&name.as_str()));
    let brief = brief.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_json::Value::Object(brief).to_string()
}

fn ops_text(ops: &[MicroOp], finding: &Finding) -> String {
    ops.iter().filter_map(|op| micro_op(op, finding)).collect::<Vec<_>>().join("; ")
}

fn micro_op(op: &MicroOp, finding: &Finding) -> Option<String> {
    let concerns = |key: &Key| finding.key.as_ref().is_none_or(|wanted| wanted == key);
    match op {
        MicroOp::Send { key, value, ack } if concerns(key) => Some(match ack {
            Ack::None => format!("{key} value {value}"),
            Ack::Unknown => format!("{key} value {value} at an offset not told"),
            Ack::At(offset) => format!("{key} value {value} at {offset}"),
        }),
        MicroOp::Poll { records: Some(records) } => {
            let of_key = records.iter().filter(|(key, list)| concerns(key) && !list.is_empty());
            let texts = of_key.map(|(key, list)| format!("{key} {}", read_text(list, finding)));
            Some(texts.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
        }
        MicroOp::Send { .. } | MicroOp::Poll { records: None } => None,
    }
}

/// The records of one key that a poll returned, as `offset:value`; a long list is cut down to what
/// is near the finding.
fn read_text(records: &[ReadRecord], finding: &Finding) -> String {
    if records.len() <= 2 * NEIGHBOURS + 1 {
        return format!("read {}", pairs_text(records));
    }
    let total = count(records.len() as u64);
    let Some(at) = place_in(records, finding) else {
        let (first, last) = (&records[..1], &records[records.len() - 1..]);
        return format!("read {total} records, {} … {}", pairs_text(first), pairs_text(last));
    };
    let from = at.saturating_sub(NEIGHBOURS);
    let to = (at + NEIGHBOURS + 1).min(records.len());
    format!("read {total} records, … {} …", pairs_text(&records[from..to]))
}

fn pairs_text(records: &[ReadRecord]) -> String {
    let pair = |ReadRecord(offset, value): &ReadRecord| match offset {
        Some(offset) => format!("{offset}:{value}"),
        None => format!("?:{value}"),
    };
    records.iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// Where the finding's record is in the list, or would be.
fn place_in(records: &[ReadRecord], finding: &Finding) -> Option<usize> {
    let is_it = |ReadRecord(offset, value): &ReadRecord| {
        finding.value == Some(*value) || (offset.is_some() && *offset == finding.offset)
    };
    let would_be = || {
        let wanted = finding.offset?;
        let within = records.first()?.0? <= wanted && wanted <= records.last()?.0?;
        within.then(|| records.partition_point(|record| record.0 < Some(wanted)))
    };
    records.iter().position(is_it).or_else(would_be)
}

/// The error of the operation, or those of its parts.
fn error(event: &Event) -> String {
    let text = |error: &EventError| match error.extra.is_empty() {
        true => error.code.clone(),
        false => format!("{} {}", error.code, serde_json::Value::Object(error.extra.clone())),
    };
    let parts = event.errors.iter().flatten().flatten().map(text);
    event.error.iter().map(text).chain(parts).collect::<Vec<_>>().join(", ")
}

fn joined(keys: &[Key]) -> String {
    keys.iter().map(Key::as_str).collect::<Vec<_>>().join(", ")
}
