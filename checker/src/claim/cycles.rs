//! Transactions do not read each other's records in a circle.

use highwater_history::verdict::Finding;
use serde::{Deserialize, Serialize};

use super::{Decides, Entry, Judge};
use crate::{
    across::{Across, Gather, Whole},
    cycle::{
        links::{Act, Kinds, Link, Links, Why, acts, of_key},
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
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Across(Across::of::<Transactions>()),
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

/// What one part knows of the order of operations; none where no operation is a transaction.
type Facts = Option<Precedence>;

#[derive(Serialize, Deserialize)]
struct Precedence {
    /// The operations that touch the part's keys and may have taken effect.
    acts: Vec<Act>,
    /// What the part's keys say.
    links: Vec<Link>,
}

struct Transactions;

impl Gather for Transactions {
    type Facts = Facts;

    fn gather(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Facts {
        run.index.has_transactions().then(|| Precedence {
            acts: acts(run.index, keys),
            links: keys.iter().flat_map(of_key).collect(),
        })
    }

    fn judge(whole: &Whole<'_>, facts: Vec<Facts>, findings: &mut Findings) {
        let (mut acts, mut links) = (Vec::new(), Vec::new());
        let parts: Vec<Precedence> = facts.into_iter().flatten().collect();
        if parts.is_empty() {
            findings.not_applicable("no operation is a transaction");
            return;
        }
        for part in parts {
            acts.extend(part.acts);
            links.extend(part.links);
        }
        acts.sort_unstable_by_key(|act: &Act| act.op);
        acts.dedup_by_key(|act| act.op);
        let links = Links::of(links, &acts);
        judge(&Known { whole, acts }, &links, findings);
    }
}

/// What findings are told with.
struct Known<'a> {
    whole: &'a Whole<'a>,
    acts: Vec<Act>,
}

impl Known<'_> {
    fn act(&self, op: OpId) -> &Act {
        let at = self.acts.binary_search_by_key(&op, |act| act.op);
        &self.acts[at.expect("operations of links may have taken effect")]
    }
}

fn judge(known: &Known<'_>, links: &Links, findings: &mut Findings) {
    let everything = components(links, ANY.and(IN_TIME), None);
    if everything.is_empty() {
        return;
    }
    let within = members(links, &everything);
    let mut told: Vec<(Kinds, OpId)> = Vec::new();
    for (name, kinds, is_violation) in CLASSES {
        for component in components(links, kinds, Some(&within)) {
            let has =
                |(_, member): &&(Kinds, OpId)| component.operations.binary_search(member).is_ok();
            if told.iter().filter(has).any(|(fewer, _)| kinds.includes(*fewer)) {
                continue;
            }
            told.push((kinds, component.operations[0]));
            let cycle = component.cycle();
            let ruling = match (is_violation, known.whole.untimed()) {
                (true, Some(untimed)) if kinds.includes(Kinds::TIME) => Ruling::Permitted(untimed),
                (true, _) => Ruling::Forbidden,
                (false, _) => permitted(&cycle),
            };
            // What is permitted in any case was never promised.
            let rule = if is_violation { 48 } else { 57 };
            findings.rule(name, ruling, || describe(known, &component, &cycle, rule));
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

fn describe(known: &Known<'_>, component: &Component, cycle: &Cycle, rule: u16) -> Finding {
    let operations = known.acts.last().map_or(0, |act| act.op + 1);
    let of_operations: Vec<&Link> =
        cycle.links.iter().filter(|link| link.from < operations).collect();
    let shown = &of_operations[..of_operations.len().min(SHOWN)];
    let step =
        |link: &&Link| format!("{} {}", name(known.act(link.from)), reason(known.whole, link));
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
        key: of_key.map(|key| known.whole.key(key).clone()),
        rule,
        evidence: "D9".to_owned(),
        events: shown.iter().flat_map(|link| events(known.act(link.from))).collect(),
        why: format!("{}{size}", steps.join(", before ")),
        ..Finding::default()
    }
}

fn events(act: &Act) -> impl Iterator<Item = u64> {
    std::iter::once(act.invoked).chain(act.completed)
}

fn name(act: &Act) -> String {
    format!("process {} (event {})", act.process, act.invoked)
}

fn reason(whole: &Whole<'_>, link: &Link) -> String {
    match link.why {
        Why::Read(key, value) | Why::DirtyRead(key, value) => {
            format!("sent {} {value}, which was read", whole.key(key))
        }
        Why::Log(key, first, next) => {
            format!("sent {} {first}, which stands before {next}", whole.key(key))
        }
        Why::Process => "went on".to_owned(),
        Why::Time => "ended".to_owned(),
    }
}
