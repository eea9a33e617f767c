//! What a schedule speaks of, names, keys and nodes, held against what there is.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Step,
    when::{Clause, Condition, Expr, Function, Term},
};
use crate::{cluster::NodeId, nemesis::Partition};

/// A mention of what is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The field with the mention, such as `steps[0].when`.
    pub field: String,
    /// One sentence.
    pub problem: String,
}

/// Who and what there is in a run.
#[derive(Debug, Clone, Default)]
pub struct Cast {
    /// The keys by their labels, `all-0`.
    pub keys: BTreeSet<String>,
    /// The nodes that serve partitions.
    pub brokers: BTreeSet<NodeId>,
    /// Those, and the controllers.
    pub nodes: BTreeSet<NodeId>,
}

/// Whether each `$name` is bound where it is used, by the `let` of its own step or of one before.
///
/// # Errors
/// The first that is not.
pub fn all_bound(steps: &[Step]) -> Result<(), Stray> {
    let mut bound: BTreeSet<&str> = BTreeSet::new();
    for (nth, step) in steps.iter().enumerate() {
        no_stray(of_when(nth, step), |what| unbound(what, &bound))?;
        for (name, expr) in &step.bind {
            no_stray(of_let(nth, name, expr), |what| unbound(what, &bound))?;
            bound.insert(name);
        }
        no_stray(of_act(nth, step), |what| unbound(what, &bound))?;
    }
    Ok(())
}

/// Whether each key and each node is part of the run.
///
/// # Errors
/// The first that is not.
pub fn all_there(steps: &[Step], cast: &Cast) -> Result<(), Stray> {
    for (nth, step) in steps.iter().enumerate() {
        let lets = step.bind.iter().flat_map(|(name, expr)| of_let(nth, name, expr));
        let all = of_when(nth, step).into_iter().chain(lets).chain(of_act(nth, step));
        no_stray(all, |what| absent(what, cast))?;
    }
    Ok(())
}

#[derive(Debug)]
enum What {
    Name(String),
    Key(Partition),
    Broker(i64),
    Node(i64),
}

fn no_stray(
    mentions: impl IntoIterator<Item = (String, What)>,
    problem: impl Fn(&What) -> Option<String>,
) -> Result<(), Stray> {
    for (field, what) in mentions {
        if let Some(problem) = problem(&what) {
            return Err(Stray { field, problem });
        }
    }
    Ok(())
}

fn unbound(what: &What, bound: &BTreeSet<&str>) -> Option<String> {
    match what {
        What::Name(name) if !bound.contains(name.as_str()) => {
            Some(format!("`${name}` is not bound by any `let` before"))
        }
        _ => None,
    }
}

fn absent(what: &What, cast: &Cast) -> Option<String> {
    let (kind, id, among) = match what {
        What::Name(_) => return None,
        What::Key(key) => {
            let known: Vec<&str> = cast.keys.iter().map(String::as_str).collect();
            let known = known.join(", ");
            let there = cast.keys.contains(&key.to_string());
            return (!there).then(|| format!("no key `{key}` in this run; known: {known}"));
        }
        What::Broker(id) => ("broker", id, &cast.brokers),
        What::Node(id) => ("node", id, &cast.nodes),
    };
    let there = among.iter().any(|node| i64::from(node.0) == *id);
    let known: Vec<String> = among.iter().map(ToString::to_string).collect();
    (!there).then(|| format!("no {kind} {id} in this run; known: {}", known.join(", ")))
}

fn of_when(nth: usize, step: &Step) -> Vec<(String, What)> {
    step.when.as_ref().map_or_else(Vec::new, |when| named(nth, "when", in_condition(when)))
}

fn of_let(nth: usize, name: &str, expr: &Expr) -> Vec<(String, What)> {
    let mut found = Vec::new();
    in_term(&expr.term, &mut found);
    named(nth, &format!("let.{name}"), found)
}

/// What is only looked at once the names of the step are bound.
fn of_act(nth: usize, step: &Step) -> Vec<(String, What)> {
    let act = &step.act;
    let mut found = Vec::new();
    in_parameters(&format!("steps[{nth}].with"), &act.with, &mut found);
    for (field, condition) in
        [("until", &act.until), ("check", &act.check), ("always", &act.always)]
    {
        let inside = condition.as_ref().map_or_else(Vec::new, in_condition);
        found.extend(named(nth, field, inside));
    }
    found
}

fn named(nth: usize, field: &str, found: Vec<What>) -> Vec<(String, What)> {
    found.into_iter().map(|what| (format!("steps[{nth}].{field}"), what)).collect()
}

fn in_condition(condition: &Condition) -> Vec<What> {
    let mut found = Vec::new();
    for clause in &condition.clauses {
        let Clause::Compare(left, _, right) = clause else { continue };
        in_term(left, &mut found);
        in_term(right, &mut found);
        match (left, right) {
            (Term::Number(id), other) | (other, Term::Number(id)) if is_node(other) => {
                found.push(What::Broker(*id));
            }
            _ => {}
        }
    }
    found
}

/// Whether a term stands for one node.
fn is_node(term: &Term) -> bool {
    matches!(term, Term::Call(Function::Leader | Function::Follower, ..))
}

fn in_term(term: &Term, found: &mut Vec<What>) {
    match term {
        Term::Number(_) | Term::None | Term::Before => {}
        Term::Name(name) => found.push(What::Name(name.clone())),
        Term::List(items) => items.iter().for_each(|item| in_node(item, found)),
        Term::Call(_, key, node) => {
            found.extend(key.parse().map(What::Key));
            node.iter().for_each(|node| in_node(node, found));
        }
        Term::Plus(term, _) => in_term(term, found),
    }
}

/// A term at a place where a number is a node.
fn in_node(term: &Term, found: &mut Vec<What>) {
    match term {
        Term::Number(id) => found.push(What::Broker(*id)),
        other => in_term(other, found),
    }
}

/// Parameters of a fault: `nodes` of aims, `to` of a move, names, keys.
fn in_parameters(field: &str, with: &Value, found: &mut Vec<(String, What)>) {
    match with {
        Value::String(text) => {
            let what = match text.strip_prefix('$') {
                Some(name) => Some(What::Name(name.to_owned())),
                None => text.parse().map(What::Key).ok(),
            };
            found.extend(what.map(|what| (field.to_owned(), what)));
        }
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                in_parameters(&format!("{field}[{nth}]"), item, found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let field = format!("{field}.{name}");
                let ids = value.as_array().into_iter().flatten().filter_map(Value::as_i64);
                match (name.as_str(), value.as_i64()) {
                    ("nodes", _) => found.extend(ids.map(|id| (field.clone(), What::Node(id)))),
                    ("to", Some(id)) => found.push((field.clone(), What::Broker(id))),
                    _ => {}
                }
                in_parameters(&field, value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
