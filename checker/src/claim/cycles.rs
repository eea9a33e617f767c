//! Transactions do not read each other's records in a circle.

use highwater_history::verdict::Finding;

use super::{Decides, Entry, Judge};
use crate::{
    cycle::{
        links::{Kinds, Link, Links, Why},
        search::{Component, Cycle, components},
    },
    finding::{Findings, Permission, Ruling},
    index::operations::OpId,
    view::{KeyView, RunView},
};

/// Counts strongly connected components of transactions: one for each, under the fewest kinds of
/// reasons that close it. Reasons that are never promised make it a permitted one.
pub static ENTRY: Entry = Entry {
    rules: &[48, 57],
    clauses: &[],
    evidence: &["D9"],
    anomalies: &["G0", "G1c", "G0-process", "G1c-process", "G0-realtime", "G1c-realtime"],
    needs: &[],
    decides: Decides::BeforeTheEnd,
    judge: Judge::Run(judge),
};

/// wr, whatever the reader was promised, and ww.
const ANY: Kinds = Kinds::READS.and(Kinds::DIRTY).and(Kinds::LOG);
const IN_TIME: Kinds = Kinds::PROCESS.and(Kinds::TIME);

/// Names with the reasons that count; whether a component of these is a violation.
const CLASSES: [(&str, Kinds, bool); 9] = [
    ("G0", Kinds::LOG, false),
    ("G1c", Kinds::READS, true),
    ("G1c", ANY, false),
    ("G0-process", Kinds::LOG.and(Kinds::PROCESS), false),
    ("G1c-process", Kinds::READS.and(Kinds::PROCESS), true),
    ("G1c-process", ANY.and(Kinds::PROCESS), false),
    ("G0-realtime", Kinds::LOG.and(IN_TIME), false),
    ("G1c-realtime", Kinds::READS.and(IN_TIME), true),
    ("G1c-realtime", ANY.and(IN_TIME), false),
];

fn judge(run: &RunView<'_>, keys: &[KeyView<'_>], findings: &mut Findings) {
    if !run.index.has_transactions() {
        findings.not_applicable("no operation is a transaction");
        return;
    }
    let is_isolated = |key: u32, op: OpId| {
        use highwater_history::event::Isolation;
        keys[key as usize].isolation(run.index.ops.get(op)) == Isolation::ReadCommitted
    };
    let links = Links::of(run.index, is_isolated);
    let everything = components(&links, ANY.and(IN_TIME), None);
    if everything.is_empty() {
        return;
    }
    let within = members(&links, &everything);
    let mut known: Vec<(Kinds, OpId)> = Vec::new();
    for (name, kinds, is_violation) in CLASSES {
        for component in components(&links, kinds, Some(&within)) {
            let has =
                |(_, member): &&(Kinds, OpId)| component.operations.binary_search(member).is_ok();
            if known.iter().filter(has).any(|(fewer, _)| kinds.includes(*fewer)) {
                continue;
            }
            known.push((kinds, component.operations[0]));
            let cycle = component.cycle();
            let ruling = match (is_violation, run.untimed()) {
                (true, Some(untimed)) if kinds.includes(Kinds::TIME) => Ruling::Permitted(untimed),
                (true, _) => Ruling::Forbidden,
                (false, _) => permitted(&cycle),
            };
            findings.rule(name, ruling, || describe(run, keys, &component, &cycle));
        }
    }
}

/// Which nodes are in a component, instants too.
fn members(links: &Links, components: &[Component]) -> Vec<bool> {
    let nodes = links.all.iter().map(|link| link.from.max(link.to)).max().map_or(0, |top| top + 1);
    let mut within = vec![false; nodes as usize];
    for node in components.iter().flat_map(Component::nodes) {
        within[node as usize] = true;
    }
    within
}

fn permitted(cycle: &Cycle) -> Ruling {
    let is_dirty = |link: &&Link| matches!(link.why, Why::DirtyRead(..));
    Ruling::Permitted(match cycle.links.iter().find(is_dirty) {
        Some(_) => Permission::new(
            "c.6 isolation.level=read_uncommitted",
            "a reader was not promised isolation",
        ),
        None => Permission::new("rule 57", "writes of transactions are not isolated"),
    })
}

/// Operations of a cycle that are told in detail.
const SHOWN: usize = 8;

fn describe(
    run: &RunView<'_>,
    keys: &[KeyView<'_>],
    component: &Component,
    cycle: &Cycle,
) -> Finding {
    let operations = run.index.ops.iter().len();
    let of_operations: Vec<&Link> =
        cycle.links.iter().filter(|link| (link.from as usize) < operations).collect();
    let shown = &of_operations[..of_operations.len().min(SHOWN)];
    let step = |link: &&Link| format!("{} {}", name(run, link.from), reason(keys, link));
    let mut steps: Vec<String> = shown.iter().map(step).collect();
    match of_operations.len() - shown.len() {
        0 => steps.push("the first again".to_owned()),
        more => steps.push(format!("{more} more and the first again")),
    }
    let size = match (component.operations.len(), cycle.is_shortest) {
        (2, _) => String::new(),
        (all, true) => format!("; a shortest cycle of {all} operations that are in cycles"),
        (all, false) => {
            format!("; {all} operations are in cycles, the search for a short one was bounded")
        }
    };
    let of_key = cycle.links.iter().find_map(|link| match link.why {
        Why::Read(key, _) | Why::DirtyRead(key, _) | Why::Log(key, ..) => Some(key),
        Why::Process | Why::Time => None,
    });
    Finding {
        key: of_key.map(|key| keys[key as usize].key.key.clone()),
        rule: 48,
        evidence: "D9".to_owned(),
        events: shown.iter().flat_map(|link| run.index.ops.get(link.from).events()).collect(),
        why: format!("{}{size}", steps.join(", before ")),
        ..Finding::default()
    }
}

fn name(run: &RunView<'_>, op: OpId) -> String {
    let operation = run.index.ops.get(op);
    let process = run.index.processes.get(operation.process).number;
    format!("process {process} (event {})", operation.invoked)
}

fn reason(keys: &[KeyView<'_>], link: &Link) -> String {
    match link.why {
        Why::Read(key, record) | Why::DirtyRead(key, record) => {
            let key = &keys[key as usize].key;
            format!("sent {} {}, which was read", key.key, key.records.value(record))
        }
        Why::Log(key, first, next) => {
            let key = &keys[key as usize].key;
            let (first, next) = (key.records.value(first), key.records.value(next));
            format!("sent {} {first}, which stands before {next}", key.key)
        }
        Why::Process => "went on".to_owned(),
        Why::Time => "ended".to_owned(),
    }
}
